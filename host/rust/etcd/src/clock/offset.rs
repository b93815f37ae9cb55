//! Bounds of the offset between this machine's clock and a member's.
//!
//! Every answer of a member bears its clock, in whole seconds (`Date`). The member read it between the request and the
//! arrival of the answer, so each answer bounds the offset from both sides, to a second and the round trip. The bounds
//! of several answers are intersected: soon they are a round trip apart. They are kept against the monotonic clock, so
//! that a step of this machine's clock shows at once. All times are in microseconds.

use std::time::Duration;

use halfopen_contract::time::Clock;

const SECOND: i64 = 1_000_000;

/// One microsecond of drift in this time: two clocks that run free, or are being adjusted, drift by at most 1 ms a
/// second.
const DRIFT_PERIOD: i64 = 1_000;

/// A member's clock in an answer, and this machine's monotonic clock around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub sent: i64,
    pub received: i64,
    /// In whole seconds, rounded down.
    pub date: i64,
}

/// Bounds of a clock minus this machine's monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OffsetBounds {
    low: i64,
    high: i64,
    /// The monotonic time of the bounds.
    at: i64,
}

/// The result of a comparison of this machine's clock with a member's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The offset is within the bound.
    Within,
    /// The offset may be within the bound or not.
    Unproven,
    /// This machine's clock is ahead by at least that, which is beyond the bound.
    Ahead(i64),
    /// This machine's clock is behind by at least that, which is beyond the bound.
    Behind(i64),
}

/// The monotonic clock.
pub(crate) fn monotonic(clock: &dyn Clock) -> i64 {
    micros(clock.monotonic())
}

pub(super) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 4)
}

impl OffsetBounds {
    /// The bounds of this machine's wall clock.
    pub fn of_wall(clock: &dyn Clock) -> OffsetBounds {
        let before = monotonic(clock);
        let wall = i64::try_from(clock.now()).unwrap_or(i64::MAX).saturating_mul(1_000);
        let after = monotonic(clock);
        OffsetBounds { low: wall.saturating_sub(after), high: wall.saturating_add(999 - before), at: after }
    }

    /// The bounds of a member's clock.
    pub fn of(sample: Sample) -> OffsetBounds {
        let date = sample.date.saturating_mul(SECOND);
        let (low, high) = (date.saturating_sub(sample.received), date.saturating_add(SECOND - 1 - sample.sent));
        OffsetBounds { low, high, at: sample.received }
    }

    /// The bounds with one more sample. Where the two exclude each other, one of the clocks was set, and the sample
    /// counts.
    pub fn and(self, sample: Sample) -> OffsetBounds {
        let (old, new) = (self.aged(sample.received), OffsetBounds::of(sample));
        let (low, high) = (old.low.max(new.low), old.high.min(new.high));
        if low > high { new } else { OffsetBounds { low, high, at: new.at } }
    }

    fn aged(self, at: i64) -> OffsetBounds {
        let drift = (at.saturating_sub(self.at).max(0) / DRIFT_PERIOD).saturating_add(1);
        OffsetBounds { low: self.low.saturating_sub(drift), high: self.high.saturating_add(drift), at }
    }

    /// The verdict on this machine's wall clock.
    pub fn judge(self, wall: OffsetBounds, bound: i64) -> Verdict {
        let aged = self.aged(wall.at);
        let (low, high) = (aged.low.saturating_sub(wall.high), aged.high.saturating_sub(wall.low));
        if low > bound {
            Verdict::Behind(low)
        } else if high < -bound {
            Verdict::Ahead(high.saturating_neg())
        } else if low >= -bound && high <= bound {
            Verdict::Within
        } else {
            Verdict::Unproven
        }
    }
}

#[cfg(test)]
mod tests;
