use super::*;

#[test]
fn waiting_ends_after_the_limit_over_all_of_it() {
    let begun = Instant::now();
    let tries = limited(Duration::from_millis(30), || (0..).take_while(|tries| handler(*tries)).count());
    assert!(tries > 1);
    assert!(begun.elapsed() >= Duration::from_millis(30));
    assert!(!handler(0), "outside of it nothing waits");
}
