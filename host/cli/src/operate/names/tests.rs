use super::*;

#[test]
fn a_name_with_a_typing_error_is_recognised() {
    let names = ["payments", "mail", "db"].map(str::to_owned);
    for (typed, meant) in [("paymnets", Some("payments")), ("Payments", Some("payments")), ("mial", Some("mail"))] {
        assert_eq!(similar(typed, &names), meant, "{typed}");
    }
    for other in ["shipping", "dc", "men", ""] {
        assert_eq!(similar(other, &names), None, "{other}");
    }
}
