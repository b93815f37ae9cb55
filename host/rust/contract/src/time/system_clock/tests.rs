use super::*;

#[test]
fn a_coarse_reading_is_never_ahead() {
    for _ in 0..1_000 {
        let reading = SystemClock.coarse();
        assert!(reading.monotonic <= SystemClock.monotonic(), "{reading:?}");
    }
}
