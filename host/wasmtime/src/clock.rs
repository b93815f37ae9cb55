//! The time, as a host reads it.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What a host tells the time with.
///
/// All hosts of one record must read one clock. Where the store has a clock of its own
/// ([`Snapshot::at`](crate::store::Snapshot::at)), that one is used for the record instead of this.
pub trait Clock: Send + Sync + 'static {
    /// The instant, in milliseconds since the Unix epoch. It may step back.
    fn now(&self) -> u64;

    /// A time that never steps back, from an arbitrary start. It measures how long ago something was in this process.
    fn monotonic(&self) -> Duration {
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        START.elapsed()
    }
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> u64 {
        // A machine that believes to be before 1970 has its clock at 0 rather than a panic.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
    }
}

/// A clock that stands still until it is told otherwise. For tests and replays.
#[derive(Debug, Default)]
pub struct ManualClock {
    now: AtomicU64,
    monotonic: AtomicU64,
}

impl ManualClock {
    /// A clock that shows so many milliseconds since the Unix epoch.
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
}

impl<C: Clock + ?Sized> Clock for std::sync::Arc<C> {
    fn now(&self) -> u64 {
        (**self).now()
    }

    fn monotonic(&self) -> Duration {
        (**self).monotonic()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_stands_still_and_goes_where_it_is_told() {
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
