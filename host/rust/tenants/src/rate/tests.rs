use halfopen::ManualClock;

use super::*;

#[test]
fn a_burst_then_the_rate_and_the_wait_is_the_rest() {
    let clock = Arc::new(ManualClock::new(1_000));
    let rate = Rate::new(clock.clone(), 10, 3);
    for _ in 0..3 {
        assert_eq!(rate.take(), Ok(()));
    }
    assert_eq!(rate.take(), Err(Error::TooManyCalls(100)));
    clock.advance(Duration::from_millis(40));
    assert_eq!(rate.take(), Err(Error::TooManyCalls(60)));
    clock.advance(Duration::from_millis(60));
    assert_eq!(rate.take(), Ok(()));
    assert_eq!(rate.take(), Err(Error::TooManyCalls(100)));
    clock.set(0);
    assert_eq!(rate.take(), Err(Error::TooManyCalls(100)), "a clock that steps back changes nothing");
}

#[test]
fn no_number_or_time_is_out_of_range() {
    let clock = Arc::new(ManualClock::new(0));
    assert_eq!(Rate::new(clock.clone(), 0, 0).take(), Ok(()));
    let rate = Rate::new(clock.clone(), u32::MAX, u32::MAX);
    assert_eq!(rate.take(), Ok(()));
    clock.set(u64::MAX);
    assert_eq!(rate.take(), Ok(()));
}
