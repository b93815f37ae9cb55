//! Outcomes and their numbers.

use serde::{Deserialize, Serialize};

/// The way in which an outcome counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// A failure or a timeout.
    pub failed: bool,
    /// It took as long as the policy calls slow.
    pub slow: bool,
}

/// Numbers of outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// All calls.
    pub calls: u64,
    /// Failures and timeouts.
    pub failures: u64,
    /// Slow calls, failed or not.
    pub slow: u64,
}

impl Counts {
    pub(super) fn add(&mut self, other: Counts) {
        self.calls = self.calls.saturating_add(other.calls);
        self.failures = self.failures.saturating_add(other.failures);
        self.slow = self.slow.saturating_add(other.slow);
    }

    pub(super) fn sum<'c>(all: impl IntoIterator<Item = &'c Counts>) -> Counts {
        let mut sum = Counts::default();
        all.into_iter().for_each(|counts| sum.add(*counts));
        sum
    }

    pub(super) fn is_sound(&self) -> bool {
        self.failures <= self.calls && self.slow <= self.calls
    }
}
