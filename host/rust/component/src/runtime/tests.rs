use super::*;

#[test]
fn a_limit_is_rounded_up_and_never_overflows() {
    assert_eq!(ticks(Duration::ZERO), 1);
    assert_eq!(ticks(Duration::from_millis(1)), 2);
    assert_eq!(ticks(Duration::from_millis(10)), 2);
    assert_eq!(ticks(Duration::from_millis(11)), 3);
    assert_eq!(ticks(Duration::MAX), u64::MAX >> 1);
}
