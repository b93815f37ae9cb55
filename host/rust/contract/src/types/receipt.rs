use serde::{Deserialize, Serialize};
#[cfg(feature = "component-model")]
use wasmtime::component::{ComponentType, Lift, Lower};

use super::words::{named, open_words, words};

/// The answer to a report, a renewal, a release and an operator's act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower), component(record))]
pub struct Receipt {
    /// Whether it counted.
    pub verdict: Verdict,
    /// The state after it.
    pub state: State,
    /// The instant at which the next probe is due; none while closed, and while forced without an end.
    #[cfg_attr(feature = "component-model", component(name = "next-due"))]
    pub next_due: Option<u64>,
}

impl Receipt {
    /// Whether it counted.
    pub fn is_applied(&self) -> bool {
        self.verdict == Verdict::Applied
    }
}

named! {
    variant:
    /// Whether a report counted.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Verdict {
        /// It counted.
        Applied = "applied",
        /// It came too late, or under a permit that does not entitle to it; it changed nothing.
        Stale(StaleReason) = "stale",
    }
}

open_words! {
    /// Why a report changed nothing: the first that fits.
    pub enum StaleReason {
        /// An operator has forced the breaker.
        Forced = "forced",
        /// This very lease was settled last: the report is a repetition.
        AlreadyReported = "already-reported",
        /// The lease has expired, whether or not another caller has taken it over.
        LeaseExpired = "lease-expired",
        /// The breaker has changed its state since the permit was given.
        OldEpoch = "old-epoch",
        /// No such permit was given.
        UnknownPermit = "unknown-permit",
    }
}

words! {
    /// The state of a breaker.
    pub enum State {
        /// Calls are admitted and their outcomes counted.
        Closed = "closed",
        /// Calls are deferred.
        Open = "open",
        /// Probes are let through, each under a lease; everybody else is deferred.
        HalfOpen = "half-open",
    }
}

words! {
    /// What an operator forces.
    pub enum Mode {
        /// Open, whatever the results and for whatever time.
        Open = "open",
        /// Closed, whatever the results: they are counted and never trip.
        Closed = "closed",
        /// Nothing: the override is taken back.
        None = "none",
    }
}

/// The policy of a dependency, as the contract passes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower), component(record))]
pub struct PolicyInForce {
    /// The policy, as JSON, with all its keys.
    pub policy: String,
    /// Whose it is.
    pub origin: PolicyOrigin,
}

words! {
    /// Whose a policy is.
    pub enum PolicyOrigin {
        /// The host's default.
        Host = "host",
        /// The dependency's own, as configured.
        Dependency = "dependency",
    }
}
