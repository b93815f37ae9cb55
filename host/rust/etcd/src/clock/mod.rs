//! This machine's clock, and whether it may serve: it is compared with those of the members.

mod offset;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use halfopen_contract::time::Clock;

use offset::{OffsetBounds, Verdict, micros};
pub(crate) use offset::{Sample, monotonic};

/// This machine's clock, compared with those of the members.
pub(crate) struct CheckedClock {
    clock: Arc<dyn Clock>,
    pub max_skew: Duration,
    members: Mutex<Vec<Option<OffsetBounds>>>,
}

/// The time of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    /// This machine's clock, in ms since the Unix epoch.
    pub at: u64,
    /// The largest difference between two clocks, in ms.
    pub max_skew: u64,
}

/// The result of the comparison with all members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ClockState {
    /// The clock is within the bound of most members.
    Proven,
    /// The clock must be compared first.
    Unproven,
    /// The clock is beyond the bound of most members: `by` (like `30 ms ahead of`) that of `member`, among others.
    Refuted { member: usize, by: String },
}

impl CheckedClock {
    /// The clock of this machine, and the number of members.
    pub fn new(clock: Arc<dyn Clock>, max_skew: Duration, members: usize) -> Self {
        CheckedClock { clock, max_skew, members: Mutex::new(vec![None; members]) }
    }

    pub fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    pub fn now(&self) -> Now {
        Now { at: self.clock.now(), max_skew: self.max_skew.as_millis() as u64 }
    }

    /// The largest offset from a member's clock: two processes are then at most `max_skew` apart.
    pub fn bound(&self) -> Duration {
        self.max_skew / 2
    }

    /// Takes a member's clock from an answer.
    pub fn observe(&self, member: usize, sample: Sample) {
        if let Some(bounds) = self.members().get_mut(member) {
            *bounds = Some(bounds.map_or_else(|| OffsetBounds::of(sample), |bounds| bounds.and(sample)));
        }
    }

    /// Whether any answer of a member bore a clock.
    pub fn has_observed(&self, member: usize) -> bool {
        self.members().get(member).is_some_and(Option::is_some)
    }

    /// Whether the comparison with a member has a result.
    pub fn is_compared(&self, member: usize) -> bool {
        let bounds = self.members().get(member).copied().flatten();
        bounds.is_some_and(|bounds| self.judge(bounds) != Verdict::Unproven)
    }

    /// The state of the clock. Of any two processes that each agree with most members, both agree with one and the
    /// same.
    pub fn state(&self) -> ClockState {
        let mut within = 0;
        let mut beyond = Vec::new();
        for (member, bounds) in self.members().iter().enumerate() {
            match bounds.map_or(Verdict::Unproven, |bounds| self.judge(bounds)) {
                Verdict::Within => within += 1,
                Verdict::Unproven => {}
                Verdict::Ahead(by) => beyond.push((member, format!("{} ms ahead of", by / 1_000))),
                Verdict::Behind(by) => beyond.push((member, format!("{} ms behind", by / 1_000))),
            }
        }
        match (beyond.len(), beyond.into_iter().next()) {
            (many, Some((member, by))) if many >= within => ClockState::Refuted { member, by },
            _ if within > 0 => ClockState::Proven,
            _ => ClockState::Unproven,
        }
    }

    fn judge(&self, bounds: OffsetBounds) -> Verdict {
        bounds.judge(OffsetBounds::of_wall(&*self.clock), micros(self.bound()))
    }

    fn members(&self) -> MutexGuard<'_, Vec<Option<OffsetBounds>>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Now {
    /// The time for a record that was last written at `written`: not earlier, where `written` is ahead by at most the
    /// skew. So a clock that is a little behind does not turn time back.
    pub fn after(self, written: u64) -> u64 {
        if written.saturating_sub(self.at) > self.max_skew { self.at } else { self.at.max(written) }
    }
}

#[cfg(test)]
mod tests;
