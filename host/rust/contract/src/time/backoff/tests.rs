use super::*;

#[test]
fn the_pauses_grow_up_to_a_second_and_no_two_are_alike() {
    let mut backoff = Backoff::begin();
    let mut pauses = Vec::new();
    for _ in 0..10 {
        pauses.push(backoff.pause);
        assert!(backoff.wait() <= backoff.pause);
        let before = backoff.pause;
        backoff.again();
        assert_eq!(backoff.pause, before, "it was not due");
        backoff.make_due();
        backoff.again();
    }
    assert!(pauses.is_sorted() && pauses[0] < pauses[1], "{pauses:?}");
    assert_eq!(pauses.last(), Some(&LONGEST_PAUSE));
    let now = Instant::now();
    assert_ne!(jittered(LONGEST_PAUSE) - now, jittered(LONGEST_PAUSE) - now);
}
