use std::time::Duration;

use serde::{Deserialize, Serialize};
#[cfg(feature = "component-model")]
use wasmtime::component::{ComponentType, Lift, Lower};

use super::words::words;

words! {
    /// How a call ended.
    pub enum Outcome {
        /// It succeeded.
        Success = "success",
        /// It failed.
        Failure = "failure",
        /// It was given up after a time limit. Counts as a failure.
        Timeout = "timeout",
        /// It says nothing about the dependency (cancelled, a caller's own mistake). Counts nowhere.
        Ignored = "ignored",
    }
}

/// The outcome of one call.
///
/// `caller` and `cause` are kept for operators with a failure or a timeout, at most 128 bytes each; the engine cuts them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower), component(record))]
pub struct Report {
    /// How the call ended.
    pub outcome: Outcome,
    /// How long it took, in ms; none where that is not known.
    pub took: Option<u64>,
    /// The caller; may be empty.
    pub caller: String,
    /// Why it failed, in a few words; may be empty.
    pub cause: String,
    /// How long the dependency itself asks to be left alone, in ms. It counts only where this report opens the breaker.
    #[cfg_attr(feature = "component-model", component(name = "retry-after"))]
    pub retry_after: Option<u64>,
}

impl Report {
    /// A report without details.
    pub fn new(outcome: Outcome) -> Self {
        Report { outcome, took: None, caller: String::new(), cause: String::new(), retry_after: None }
    }

    /// How long the call took.
    #[must_use]
    pub fn took(mut self, took: Duration) -> Self {
        self.took = Some(millis(took));
        self
    }

    /// The caller.
    #[must_use]
    pub fn caller(mut self, caller: impl Into<String>) -> Self {
        self.caller = caller.into();
        self
    }

    /// Why the call failed, in a few words.
    #[must_use]
    pub fn cause(mut self, cause: impl Into<String>) -> Self {
        self.cause = cause.into();
        self
    }

    /// How long the dependency itself asks to be left alone.
    #[must_use]
    pub fn retry_after(mut self, retry_after: Duration) -> Self {
        self.retry_after = Some(millis(retry_after));
        self
    }
}

impl From<Outcome> for Report {
    fn from(outcome: Outcome) -> Self {
        Report::new(outcome)
    }
}

/// A length of time in ms, as the contract counts it; one that is too long for that is the longest.
pub fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

/// The outcomes of many closed-state calls. The successes came first (plain before slow), then the failures (the same).
/// Slow ones count as slow only where the policy has `slow_calls`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower), component(record))]
#[serde(default, deny_unknown_fields)]
pub struct Tally {
    /// Successes that were not slow.
    pub successes: u64,
    /// Successes that were slow.
    #[cfg_attr(feature = "component-model", component(name = "slow-successes"))]
    pub slow_successes: u64,
    /// Failures and timeouts that were not slow.
    pub failures: u64,
    /// Failures and timeouts that were slow.
    #[cfg_attr(feature = "component-model", component(name = "slow-failures"))]
    pub slow_failures: u64,
    /// The caller of the last failure.
    pub caller: String,
    /// The cause of the last failure.
    pub cause: String,
    /// How long the dependency asked to be left alone with the last failure, in ms.
    #[cfg_attr(feature = "component-model", component(name = "retry-after"))]
    #[serde(rename = "retry_after_ms")]
    pub retry_after: Option<u64>,
}

impl Tally {
    /// Adds a tally of the same permit that came later, or at the same time; returns false, and changes nothing, where one
    /// tally would say less than both: within one the successes come first, and only the last failure has a `retry_after`.
    pub fn merge(&mut self, later: &Tally) -> bool {
        let follows = self.failures + self.slow_failures == 0
            || later.successes + later.slow_successes == 0 && self.retry_after <= later.retry_after;
        if follows {
            self.add(later);
        }
        follows
    }

    /// Adds a later tally. The details are those of the last failure.
    pub fn add(&mut self, later: &Tally) {
        self.successes = self.successes.saturating_add(later.successes);
        self.slow_successes = self.slow_successes.saturating_add(later.slow_successes);
        self.failures = self.failures.saturating_add(later.failures);
        self.slow_failures = self.slow_failures.saturating_add(later.slow_failures);
        if later.failures + later.slow_failures > 0 {
            self.caller.clone_from(&later.caller);
            self.cause.clone_from(&later.cause);
            self.retry_after = later.retry_after;
        }
    }
}

/// The operator who acts on a breaker by hand, and the reason. At most 128 bytes each; the engine cuts them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower), component(record))]
pub struct Operator {
    /// The operator; may be empty.
    pub by: String,
    /// The reason; may be empty.
    pub note: String,
}

impl Operator {
    /// An operator with a reason.
    pub fn new(by: impl Into<String>, note: impl Into<String>) -> Self {
        Operator { by: by.into(), note: note.into() }
    }
}
