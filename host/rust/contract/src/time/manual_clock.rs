use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Clock;

/// A clock that stands still until it is set. For tests and replays.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: AtomicU64,
    monotonic: AtomicU64,
}

impl ManualClock {
    /// A clock that shows `now`, in ms since the Unix epoch.
    pub fn new(now: u64) -> Self {
        ManualClock { now: AtomicU64::new(now), monotonic: AtomicU64::new(0) }
    }

    /// Sets the clock, forwards or backwards. Forwards, the monotonic time moves along.
    pub fn set(&self, now: u64) {
        let before = self.now.swap(now, Ordering::SeqCst);
        self.monotonic.fetch_add(now.saturating_sub(before), Ordering::SeqCst);
    }

    /// Moves the clock on.
    pub fn advance(&self, by: Duration) {
        let by = by.as_millis() as u64;
        self.now.fetch_add(by, Ordering::SeqCst);
        self.monotonic.fetch_add(by, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.monotonic.load(Ordering::SeqCst))
    }

    fn runs(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
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
}
