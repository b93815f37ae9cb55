use serde::{Deserialize, Serialize};

use super::from_json;
use crate::types::State;
use crate::types::words::open_words;

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

from_json!(Transition, "transition");

open_words! {
    /// Why a state changed.
    pub enum TransitionReason {
        /// Failures in a row reached `consecutive_failures`.
        ConsecutiveFailures = "consecutive-failures",
        /// Failures made up the percentage of `failure_rate`.
        FailureRate = "failure-rate",
        /// Slow calls made up the percentage of `slow_calls`.
        SlowCalls = "slow-calls",
        /// A failure during a ramp.
        RampFailure = "ramp-failure",
        /// The open window was over and a caller came: it got the lease.
        ProbeDue = "probe-due",
        /// Probes succeeded.
        ProbeSucceeded = "probe-succeeded",
        /// A probe failed.
        ProbeFailed = "probe-failed",
        /// A probe ran into its time limit.
        ProbeTimedOut = "probe-timed-out",
        /// A probe succeeded and was slow.
        ProbeSlow = "probe-slow",
        /// A lease expired without a report.
        ProbeLost = "probe-lost",
        /// An operator forced the state.
        Forced = "forced",
        /// An operator took the override back.
        OverrideRemoved = "override-removed",
        /// An override ended by itself.
        OverrideEnded = "override-ended",
        /// An operator reset the breaker.
        Reset = "reset",
        /// A dependency got another policy.
        Configured = "configured",
        /// The record was removed.
        Forgotten = "forgotten",
    }
}
