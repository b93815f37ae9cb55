//! How far this machine's clock is from a member's. Nothing here speaks to etcd.
//!
//! Every answer of a member bears its clock, in whole seconds (`Date`). It was read between the sending of the request and
//! the arrival of the answer, so each answer bounds the difference from both sides, to a second and the round trip. The
//! bounds of many answers are cut with each other: soon they are a round trip apart. They are kept against the monotonic
//! clock, so that a step of this machine's clock shows at once. All times are in microseconds.

use std::time::Duration;

use crate::clock::Clock;

const SECOND: i64 = 1_000_000;

/// How much two clocks that run free, or are being set right, may drift apart: 1 ms a second.
const DRIFT: i64 = 1_000;

/// A member's clock in an answer, and this machine's monotonic clock around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub sent: i64,
    pub received: i64,
    /// In whole seconds, cut.
    pub date: i64,
}

/// Bounds of a member's clock less this machine's monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Estimate {
    low: i64,
    high: i64,
    /// When that was, by the monotonic clock.
    at: i64,
}

/// What is known of a clock against the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is within.
    Within,
    /// It may be within or not.
    Unproven,
    /// This machine's clock is ahead of the member's by so much at least, and that is too much.
    Ahead(i64),
    /// It is behind by so much at least.
    Behind(i64),
}

/// This machine's clock less its monotonic clock, read at the same moment: bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    low: i64,
    high: i64,
    at: i64,
}

/// The monotonic clock.
pub(super) fn monotonic(clock: &dyn Clock) -> i64 {
    micros(clock.monotonic())
}

pub(super) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 4)
}

impl Reading {
    pub fn of(clock: &dyn Clock) -> Reading {
        let once = || {
            let before = monotonic(clock);
            let wall = i64::try_from(clock.now()).unwrap_or(i64::MAX).saturating_mul(1_000);
            let after = monotonic(clock);
            Reading { low: wall.saturating_sub(after), high: wall.saturating_add(999 - before), at: after }
        };
        // A thread that was put aside in between reads again.
        let mut best = once();
        for _ in 0..4 {
            if best.high.saturating_sub(best.low) < 2_000 {
                break;
            }
            let other = once();
            if other.high.saturating_sub(other.low) < best.high.saturating_sub(best.low) {
                best = other;
            }
        }
        best
    }
}

/// This machine's clock, in ms since the Unix epoch, and how far clocks may be apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub at: u64,
    pub max_skew: u64,
}

impl Now {
    /// The time for a record that was last written at `written`: not before that, where it is ahead by no more than clocks
    /// may be apart. So a clock that is a little behind does not turn time back.
    pub fn after(self, written: u64) -> u64 {
        if self.is_too_early_for(written) { self.at } else { self.at.max(written) }
    }

    /// Whether a record is dated ahead by more than clocks may be apart.
    pub fn is_too_early_for(self, written: u64) -> bool {
        written.saturating_sub(self.at) > self.max_skew
    }
}

impl Estimate {
    pub fn of(sample: Sample) -> Estimate {
        let date = sample.date.saturating_mul(SECOND);
        let (low, high) = (date.saturating_sub(sample.received), date.saturating_add(SECOND - 1 - sample.sent));
        Estimate { low, high, at: sample.received }
    }

    /// With one more sample. Where the two exclude each other one of the clocks has been set, and the new one counts.
    pub fn and(self, sample: Sample) -> Estimate {
        let (old, new) = (self.aged(sample.received), Estimate::of(sample));
        let (low, high) = (old.low.max(new.low), old.high.min(new.high));
        if low > high { new } else { Estimate { low, high, at: new.at } }
    }

    fn aged(self, at: i64) -> Estimate {
        let drift = (at.saturating_sub(self.at).max(0) / SECOND.div_euclid(DRIFT)).saturating_add(1);
        Estimate { low: self.low.saturating_sub(drift), high: self.high.saturating_add(drift), at }
    }

    /// What is known of the clock that was read.
    pub fn judge(self, reading: Reading, bound: i64) -> Verdict {
        let aged = self.aged(reading.at);
        let (low, high) = (aged.low.saturating_sub(reading.high), aged.high.saturating_sub(reading.low));
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
mod tests {
    use super::*;

    const BOUND: i64 = 500_000;
    const NOW: i64 = 1_700_000_000 * SECOND;

    /// The monotonic clock began at `NOW`; the member's clock is `offset` off, and each way takes `way`.
    fn sample(at: i64, offset: i64, way: i64) -> Sample {
        Sample { sent: at - way, received: at + way, date: (NOW + at + offset).div_euclid(SECOND) }
    }

    fn reading(at: i64, offset: i64) -> Reading {
        Reading { low: NOW + offset, high: NOW + offset + 999, at }
    }

    #[test]
    fn answers_over_a_second_prove_a_clock_within_the_bound_and_never_one_beyond_it() {
        for offset in (-3_000_000..=3_000_000).step_by(100_001) {
            for phase in (0..SECOND).step_by(90_001) {
                let mut estimate = Estimate::of(sample(phase, offset, 1_000));
                for step in 0..=20 {
                    let at = phase + step * 60_000;
                    estimate = estimate.and(sample(at, offset, 1_000));
                    let verdict = estimate.judge(reading(at, 0), BOUND);
                    match verdict {
                        Verdict::Within => assert!(offset.abs() <= BOUND, "{offset}"),
                        Verdict::Behind(by) => assert!(offset > BOUND && by <= offset, "{offset} {by}"),
                        Verdict::Ahead(by) => assert!(offset < -BOUND && by <= -offset, "{offset} {by}"),
                        Verdict::Unproven => {}
                    }
                    if step == 20 && (offset.abs() - BOUND).abs() > 100_000 {
                        assert_ne!(verdict, Verdict::Unproven, "{offset} after a second");
                    }
                }
            }
        }
    }

    #[test]
    fn a_step_of_the_machines_clock_shows_without_another_answer() {
        let mut estimate = Estimate::of(sample(0, 0, 1_000));
        for at in (0..SECOND).step_by(50_000) {
            estimate = estimate.and(sample(at, 0, 1_000));
        }
        assert_eq!(estimate.judge(reading(SECOND, 0), BOUND), Verdict::Within);
        assert!(matches!(estimate.judge(reading(SECOND, 2 * SECOND), BOUND), Verdict::Ahead(by) if by > 1_900_000));
        assert!(matches!(estimate.judge(reading(SECOND, -2 * SECOND), BOUND), Verdict::Behind(by) if by > 1_900_000));
    }

    #[test]
    fn a_step_of_the_members_clock_is_taken_up() {
        let estimate = Estimate::of(sample(0, 0, 1_000)).and(sample(SECOND, 10 * SECOND, 1_000));
        assert!(matches!(estimate.judge(reading(SECOND, 0), BOUND), Verdict::Behind(_)));
    }

    #[test]
    fn what_was_known_long_ago_proves_nothing() {
        let mut estimate = Estimate::of(sample(0, 0, 1_000));
        for at in (0..SECOND).step_by(50_000) {
            estimate = estimate.and(sample(at, 0, 1_000));
        }
        assert_eq!(estimate.judge(reading(3_600 * SECOND, 0), BOUND), Verdict::Unproven);
    }
}
