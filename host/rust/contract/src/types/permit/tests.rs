use super::*;

#[test]
fn a_permit_survives_being_written_and_read() {
    for permit in [
        Permit { epoch: 0, lease: None },
        Permit { epoch: u64::MAX, lease: Some(u64::MAX) },
        Permit { epoch: 7, lease: Some(0) },
    ] {
        assert_eq!(permit.to_string().parse(), Ok(permit));
    }
}

#[test]
fn a_text_that_is_no_permit_is_refused() {
    for text in ["", ":", "1:", ":1", "1:2:3", "+1", "-1", " 1", "1 ", "a", "18446744073709551616"] {
        assert!(text.parse::<Permit>().is_err(), "{text:?}");
    }
}
