use super::*;

#[test]
fn the_wait_lies_between_retry_after_and_its_spread() {
    let deferral = Deferral { retry_after: 100, spread: 20, reason: DeferReason::Open, fresh_for: 0, admission: None };
    let waits: Vec<u128> = (0..200).map(|_| deferral.wait().as_millis()).collect();
    assert!(waits.iter().all(|ms| (100..=120).contains(ms)), "{waits:?}");
    assert!(waits.iter().any(|ms| *ms != waits[0]), "all callers would return together");
}

#[test]
fn the_longest_wait_does_not_overflow() {
    let deferral =
        Deferral { retry_after: u64::MAX, spread: u64::MAX, reason: DeferReason::Open, fresh_for: 0, admission: None };
    assert_eq!(deferral.wait(), Duration::from_millis(u64::MAX));
}
