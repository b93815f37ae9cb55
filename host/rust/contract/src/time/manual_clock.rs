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
mod tests;
