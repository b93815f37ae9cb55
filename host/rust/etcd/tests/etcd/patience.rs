use std::time::{Duration, Instant};

/// The first result of `attempt`, which is repeated for at most two minutes: far longer than the slowest machine needs.
pub fn until<T>(what: &str, mut attempt: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(result) = attempt() {
            return result;
        }
        assert!(started.elapsed() < Duration::from_secs(120), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}
