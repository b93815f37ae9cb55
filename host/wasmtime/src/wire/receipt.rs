use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

use super::text::{open_words, words};

/// What a report, a renewal or a release came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
pub struct Receipt {
    /// Whether it counted.
    pub verdict: Verdict,
    /// The state after it.
    pub state: State,
    /// The instant at which the next probe is due; none while closed, and while forced.
    #[component(name = "next-due")]
    pub next_due: Option<u64>,
    /// The changes of state that it brought about, in order.
    pub transitions: Vec<Transition>,
}

impl Receipt {
    /// Whether it counted.
    pub fn is_applied(&self) -> bool {
        self.verdict == Verdict::Applied
    }
}

/// Whether a report counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(variant)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It counted.
    #[component(name = "applied")]
    Applied,
    /// It came too late, or under a permit that does not entitle to it; it changed nothing.
    #[component(name = "stale")]
    Stale(StaleReason),
}

/// Why a report changed nothing: the first that fits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, ComponentType, Lift, Lower)]
#[component(variant)]
pub enum StaleReason {
    /// An operator has forced the breaker.
    #[component(name = "forced")]
    Forced,
    /// This very lease was settled last: the report is a repetition.
    #[component(name = "already-reported")]
    AlreadyReported,
    /// The lease has expired, whether or not another has taken it over.
    #[component(name = "lease-expired")]
    LeaseExpired,
    /// The breaker has changed its state since the permit was given.
    #[component(name = "old-epoch")]
    OldEpoch,
    /// No such permit was given.
    #[component(name = "unknown-permit")]
    UnknownPermit,
    /// A reason of a later version.
    #[component(name = "other")]
    Other(String),
}

open_words!(StaleReason {
    Forced = "forced",
    AlreadyReported = "already-reported",
    LeaseExpired = "lease-expired",
    OldEpoch = "old-epoch",
    UnknownPermit = "unknown-permit",
});

/// The state of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ComponentType, Lift, Lower)]
#[component(enum)]
#[repr(u8)]
pub enum State {
    /// Calls are admitted and their outcomes counted.
    #[component(name = "closed")]
    Closed,
    /// Calls are deferred.
    #[component(name = "open")]
    Open,
    /// Probes are let through, each under a lease; everybody else is deferred.
    #[component(name = "half-open")]
    HalfOpen,
}

words!(State { Closed = "closed", Open = "open", HalfOpen = "half-open" });

/// What an operator forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ComponentType, Lift, Lower)]
#[component(enum)]
#[repr(u8)]
pub enum Mode {
    /// Open, whatever the results and however long.
    #[component(name = "open")]
    Open,
    /// Closed, whatever the results: they are counted and never trip.
    #[component(name = "closed")]
    Closed,
    /// Nothing: what was forced is taken back.
    #[component(name = "none")]
    None,
}

words!(Mode { Open = "open", Closed = "closed", None = "none" });

/// One change of state, or one lost probe (half-open to half-open, in the same epoch).
///
/// The transitions of a dependency are chained: each `from` is the last `to`, each epoch the last plus one, lost probes
/// aside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
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
}

/// Why a state changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, ComponentType, Lift, Lower)]
#[component(variant)]
pub enum TransitionReason {
    /// Failures in a row reached `consecutive_failures`.
    #[component(name = "consecutive-failures")]
    ConsecutiveFailures,
    /// Failures made up the percentage of `failure_rate`.
    #[component(name = "failure-rate")]
    FailureRate,
    /// Slow calls made up the percentage of `slow_calls`.
    #[component(name = "slow-calls")]
    SlowCalls,
    /// A failure during a ramp.
    #[component(name = "ramp-failure")]
    RampFailure,
    /// The open window was over and a caller came: it got the lease.
    #[component(name = "probe-due")]
    ProbeDue,
    /// Probes succeeded.
    #[component(name = "probe-succeeded")]
    ProbeSucceeded,
    /// A probe failed.
    #[component(name = "probe-failed")]
    ProbeFailed,
    /// A probe ran into its time limit.
    #[component(name = "probe-timed-out")]
    ProbeTimedOut,
    /// A probe succeeded and was slow.
    #[component(name = "probe-slow")]
    ProbeSlow,
    /// A lease expired without a report.
    #[component(name = "probe-lost")]
    ProbeLost,
    /// An operator forced the state.
    #[component(name = "forced")]
    Forced,
    /// An operator took back what was forced.
    #[component(name = "override-removed")]
    OverrideRemoved,
    /// What was forced came to its end.
    #[component(name = "override-ended")]
    OverrideEnded,
    /// An operator reset the breaker.
    #[component(name = "reset")]
    Reset,
    /// A reason of a later version.
    #[component(name = "other")]
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
});
