use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::InvalidDocument;
use crate::types::State;
use crate::types::open_words;

/// A change of state, or a note about a breaker whose state stays (`from` is `to`, and the epoch is unchanged).
///
/// The changes of state of a dependency are chained: each `from` is the last `to`, each epoch the last plus one.
/// [`Forgotten`](TransitionReason::Forgotten) ends a chain.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Transition {
    /// The state before.
    pub from: State,
    /// The state after.
    pub to: State,
    /// The instant, in ms since the Unix epoch.
    pub at: u64,
    /// The epoch after.
    pub epoch: u64,
    /// Why.
    pub reason: TransitionReason,
    /// The operator; empty where no operator acted.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// The operator's note; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// The caller of the failure that brought it about, or the holder of the lost lease; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub caller: String,
    /// The cause of that failure; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cause: String,
    /// Calls in the window that a trip empties; none where it is no trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Failures in that window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<u64>,
    /// Slow calls in that window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow: Option<u64>,
    /// Failures in a row at the trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures_in_row: Option<u64>,
}

impl FromStr for Transition {
    type Err = InvalidDocument;

    fn from_str(json: &str) -> Result<Self, Self::Err> {
        super::parse("transition", json)
    }
}

/// Why a state changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TransitionReason {
    /// Failures in a row reached `consecutive_failures`.
    ConsecutiveFailures,
    /// Failures made up the percentage of `failure_rate`.
    FailureRate,
    /// Slow calls made up the percentage of `slow_calls`.
    SlowCalls,
    /// A failure during a ramp.
    RampFailure,
    /// The open window was over and a caller came: it got the lease.
    ProbeDue,
    /// Probes succeeded.
    ProbeSucceeded,
    /// A probe failed.
    ProbeFailed,
    /// A probe ran into its time limit.
    ProbeTimedOut,
    /// A probe succeeded and was slow.
    ProbeSlow,
    /// A lease expired without a report.
    ProbeLost,
    /// An operator forced the state.
    Forced,
    /// An operator took the override back.
    OverrideRemoved,
    /// An override ended by itself.
    OverrideEnded,
    /// An operator reset the breaker.
    Reset,
    /// A dependency got another policy.
    Configured,
    /// The record was removed.
    Forgotten,
    /// A reason of a later version.
    Other(String),
}

open_words!(TransitionReason {
    ConsecutiveFailures = "consecutive-failures",
    FailureRate = "failure-rate",
    SlowCalls = "slow-calls",
    RampFailure = "ramp-failure",
    ProbeDue = "probe-due",
    ProbeSucceeded = "probe-succeeded",
    ProbeFailed = "probe-failed",
    ProbeTimedOut = "probe-timed-out",
    ProbeSlow = "probe-slow",
    ProbeLost = "probe-lost",
    Forced = "forced",
    OverrideRemoved = "override-removed",
    OverrideEnded = "override-ended",
    Reset = "reset",
    Configured = "configured",
    Forgotten = "forgotten",
});
