use super::*;

#[test]
fn a_manual_clock_stands_still_until_it_is_set() {
    let clock = ManualClock::new(1_000);
    assert_eq!(clock.now(), 1_000);
    clock.advance(Duration::from_millis(5));
    assert_eq!(clock.now(), 1_005);
    clock.set(10);
    assert_eq!(clock.now(), 10);
}

#[test]
fn a_step_back_leaves_the_monotonic_time_alone() {
    let clock = ManualClock::new(1_000);
    clock.set(1_500);
    clock.set(200);
    assert_eq!(clock.monotonic(), Duration::from_millis(500));
    clock.set(300);
    assert_eq!(clock.monotonic(), Duration::from_millis(600));
}
