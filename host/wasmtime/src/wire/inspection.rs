use serde::{Deserialize, Serialize};
use wasmtime::component::{ComponentType, Lift, Lower};

use super::text::words;
use super::{Mode, Policy, State};

/// What is known of a dependency. Looking changes nothing and takes no lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
pub struct Inspection {
    /// The state.
    pub state: State,
    /// What an operator forced, while it lasts. Its name in JSON is `override`.
    #[component(name = "override")]
    #[serde(rename = "override")]
    pub forced: Option<Forced>,
    /// Whether the next `acquire` would be granted a lease; never while forced.
    #[component(name = "probe-due")]
    pub probe_due: bool,
    /// The live leases.
    pub leases: Vec<Lease>,
    /// Successful probes since the breaker became half-open.
    pub successes: u32,
    /// The backoff level of the last opening.
    pub level: u32,
    /// Calls in the window now. None are counted while open or half-open.
    pub calls: u64,
    /// Failures in the window now.
    pub failures: u64,
    /// Slow calls in the window now.
    pub slow: u64,
    /// Failures in a row; they do not age.
    #[component(name = "failures-in-row")]
    pub failures_in_row: u64,
    /// The epoch.
    pub epoch: u64,
    /// The instant of the last change of state; none where there has been none.
    pub since: Option<u64>,
    /// The instant at which the next probe is due; none while closed, and while forced without an end.
    #[component(name = "next-due")]
    pub next_due: Option<u64>,
}

/// What an operator forced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
pub struct Forced {
    /// Open or closed, never none.
    pub mode: Mode,
    /// The instant at which it was set.
    pub since: u64,
    /// It ends by itself in so many ms; none = it lasts.
    #[component(name = "ends-in")]
    pub ends_in: Option<u64>,
    /// The operator's note; up to 100 bytes.
    pub note: String,
}

/// A live lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
pub struct Lease {
    /// Its token.
    pub token: u64,
    /// Who holds it, as given to `acquire`.
    pub caller: String,
    /// It ends in so many ms.
    #[component(name = "expires-in")]
    pub expires_in: u64,
}

/// The policy that a dependency goes by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ComponentType, Lift, Lower)]
#[component(record)]
pub struct PolicyInForce {
    /// The policy.
    pub policy: Policy,
    /// Whose it is.
    pub origin: PolicyOrigin,
}

/// Whose a policy is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ComponentType, Lift, Lower)]
#[component(enum)]
#[repr(u8)]
pub enum PolicyOrigin {
    /// The host's default.
    #[component(name = "host")]
    Host,
    /// The dependency's own, as configured.
    #[component(name = "dependency")]
    Dependency,
}

words!(PolicyOrigin { Host = "host", Dependency = "dependency" });
