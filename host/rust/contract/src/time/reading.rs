use std::time::Duration;

use super::Clock;

/// Both times of a [`Clock`], read together. As the time of a request it tells later how long ago that was: the machine may
/// be stopped, or its clock set, in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The wall clock, in ms since the Unix epoch.
    pub now: u64,
    /// The monotonic clock.
    pub monotonic: Duration,
}

impl Reading {
    /// The present time of a clock.
    pub fn now(clock: &dyn Clock) -> Self {
        Reading { now: clock.now(), monotonic: clock.monotonic() }
    }

    /// The time at which the wall clock showed `now`; a later `now` counts as this one.
    pub fn back_to(self, now: u64) -> Self {
        let passed = self.now.saturating_sub(now);
        Reading { now: self.now - passed, monotonic: self.monotonic.saturating_sub(Duration::from_millis(passed)) }
    }

    /// The time since then: by the clock that shows more of it.
    pub fn elapsed(&self, clock: &dyn Clock) -> Duration {
        let wall = Duration::from_millis(clock.now().saturating_sub(self.now));
        clock.monotonic().saturating_sub(self.monotonic).max(wall)
    }

    /// Whether a lease of `expires_in` ms that was requested then has ended.
    pub fn has_expired(&self, expires_in: u64, clock: &dyn Clock) -> bool {
        self.elapsed(clock) >= Duration::from_millis(expires_in)
    }
}
