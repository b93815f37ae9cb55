use serde::{Deserialize, Serialize};
#[cfg(feature = "component-model")]
use wasmtime::component::{ComponentType, Lift, Lower};

use super::words::words;

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(enum))]
#[repr(u8)]
pub enum Outcome {
    /// It succeeded.
    #[cfg_attr(feature = "component-model", component(name = "success"))]
    Success,
    /// It failed.
    #[cfg_attr(feature = "component-model", component(name = "failure"))]
    Failure,
    /// It was given up after a time limit. Counts as a failure.
    #[cfg_attr(feature = "component-model", component(name = "timeout"))]
    Timeout,
    /// It says nothing about the dependency (cancelled, a caller's own mistake). Counts nowhere.
    #[cfg_attr(feature = "component-model", component(name = "ignored"))]
    Ignored,
}

words!(Outcome { Success = "success", Failure = "failure", Timeout = "timeout", Ignored = "ignored" });

/// The outcome of one call.
///
/// `caller` and `cause` are kept for operators with a failure or a timeout, at most 128 bytes each; the engine cuts them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(record))]
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

impl From<Outcome> for Report {
    /// A report without details.
    fn from(outcome: Outcome) -> Self {
        Report { outcome, took: None, caller: String::new(), cause: String::new(), retry_after: None }
    }
}

/// The outcomes of many closed-state calls. The successes came first (plain before slow), then the failures (the same).
/// Slow ones count as slow only where the policy has `slow_calls`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(record))]
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

/// The operator who acts on a breaker by hand, and the reason. At most 128 bytes each; the engine cuts them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(record))]
pub struct Operator {
    /// The operator; may be empty.
    pub by: String,
    /// The reason; may be empty.
    pub note: String,
}
