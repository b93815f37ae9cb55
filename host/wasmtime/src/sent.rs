//! When something was asked for.

use std::time::Duration;

use crate::clock::Clock;

/// When an acquire was sent, by both clocks: the machine may have been stopped, or its clock set, since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub now: u64,
    pub monotonic: Duration,
}

impl Sent {
    pub fn at(clock: &dyn Clock) -> Self {
        Sent { now: clock.now(), monotonic: clock.monotonic() }
    }

    /// When the wall clock showed that time; dated later than now counts as now.
    pub fn back_to(self, now: u64) -> Self {
        let passed = self.now.saturating_sub(now);
        Sent { now: self.now - passed, monotonic: self.monotonic.saturating_sub(Duration::from_millis(passed)) }
    }

    /// How long ago: by whichever clock says more.
    pub fn ago(&self, clock: &dyn Clock) -> Duration {
        let wall = Duration::from_millis(clock.now().saturating_sub(self.now));
        clock.monotonic().saturating_sub(self.monotonic).max(wall)
    }

    /// Whether a lease that was asked for then, and lasts for so many ms, has run out.
    pub fn too_long_ago(&self, expires_in: u64, clock: &dyn Clock) -> bool {
        self.ago(clock) >= Duration::from_millis(expires_in)
    }
}
