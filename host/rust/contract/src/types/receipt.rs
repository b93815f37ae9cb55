use serde::{Deserialize, Serialize};
#[cfg(feature = "component-model")]
use wasmtime::component::{ComponentType, Lift, Lower};

use super::words::{open_words, words};

/// The answer to a report, a renewal, a release and an operator's act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(record))]
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

/// Whether a report counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(variant))]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It counted.
    #[cfg_attr(feature = "component-model", component(name = "applied"))]
    Applied,
    /// It came too late, or under a permit that does not entitle to it; it changed nothing.
    #[cfg_attr(feature = "component-model", component(name = "stale"))]
    Stale(StaleReason),
}

/// Why a report changed nothing: the first that fits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(variant))]
pub enum StaleReason {
    /// An operator has forced the breaker.
    #[cfg_attr(feature = "component-model", component(name = "forced"))]
    Forced,
    /// This very lease was settled last: the report is a repetition.
    #[cfg_attr(feature = "component-model", component(name = "already-reported"))]
    AlreadyReported,
    /// The lease has expired, whether or not another caller has taken it over.
    #[cfg_attr(feature = "component-model", component(name = "lease-expired"))]
    LeaseExpired,
    /// The breaker has changed its state since the permit was given.
    #[cfg_attr(feature = "component-model", component(name = "old-epoch"))]
    OldEpoch,
    /// No such permit was given.
    #[cfg_attr(feature = "component-model", component(name = "unknown-permit"))]
    UnknownPermit,
    /// A reason of a later version.
    #[cfg_attr(feature = "component-model", component(name = "other"))]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(enum))]
#[repr(u8)]
pub enum State {
    /// Calls are admitted and their outcomes counted.
    #[cfg_attr(feature = "component-model", component(name = "closed"))]
    Closed,
    /// Calls are deferred.
    #[cfg_attr(feature = "component-model", component(name = "open"))]
    Open,
    /// Probes are let through, each under a lease; everybody else is deferred.
    #[cfg_attr(feature = "component-model", component(name = "half-open"))]
    HalfOpen,
}

words!(State { Closed = "closed", Open = "open", HalfOpen = "half-open" });

/// What an operator forces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(enum))]
#[repr(u8)]
pub enum Mode {
    /// Open, whatever the results and for whatever time.
    #[cfg_attr(feature = "component-model", component(name = "open"))]
    Open,
    /// Closed, whatever the results: they are counted and never trip.
    #[cfg_attr(feature = "component-model", component(name = "closed"))]
    Closed,
    /// Nothing: the override is taken back.
    #[cfg_attr(feature = "component-model", component(name = "none"))]
    None,
}

words!(Mode { Open = "open", Closed = "closed", None = "none" });

/// The policy of a dependency, as the contract passes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(record))]
pub struct PolicyInForce {
    /// The policy, as JSON, with all its keys.
    pub policy: String,
    /// Whose it is.
    pub origin: PolicyOrigin,
}

/// Whose a policy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "component-model", derive(ComponentType, Lift, Lower))]
#[cfg_attr(feature = "component-model", component(enum))]
#[repr(u8)]
pub enum PolicyOrigin {
    /// The host's default.
    #[cfg_attr(feature = "component-model", component(name = "host"))]
    Host,
    /// The dependency's own, as configured.
    #[cfg_attr(feature = "component-model", component(name = "dependency"))]
    Dependency,
}

words!(PolicyOrigin { Host = "host", Dependency = "dependency" });
