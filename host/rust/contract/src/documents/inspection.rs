use serde::{Deserialize, Serialize};

use super::{Transition, from_json};
use crate::types::{Mode, State};

/// A dependency, as `inspect` shows it. Its JSON is that of the contract (`wit/types.wit`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The name.
    pub dependency: String,
    /// The instant of the inspection, in ms since the Unix epoch.
    pub at: u64,
    /// The state.
    pub state: State,
    /// The override, while it lasts.
    #[serde(rename = "override")]
    pub forced: Option<Forced>,
    /// Whether the next acquire would be granted a lease; never while forced.
    pub probe_due: bool,
    /// The live leases.
    pub leases: Vec<Lease>,
    /// Successful probes since the breaker became half-open.
    pub successes: u32,
    /// The backoff level of the last opening.
    pub level: u32,
    /// Calls in the window now; 0 while open or half-open.
    pub calls: u64,
    /// Failures in the window now.
    pub failures: u64,
    /// Slow calls in the window now.
    pub slow: u64,
    /// Failures in a row; they do not age.
    pub failures_in_row: u64,
    /// The epoch.
    pub epoch: u64,
    /// The instant of the last change of state; none where there has been none.
    pub since: Option<u64>,
    /// The instant at which the next probe is due; none while closed, and while forced without an end.
    pub next_due: Option<u64>,
    /// The last failure that was counted or that settled a probe, since the breaker was made or reset.
    pub last_failure: Option<LastFailure>,
    /// The last transition that raised the epoch.
    pub last_change: Option<Transition>,
}

/// An override.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Forced {
    /// Open or closed, never none.
    pub mode: Mode,
    /// The instant at which it was set.
    pub since: u64,
    /// The time that is left of it, in ms; none for an override without end.
    #[serde(rename = "ends_in_ms")]
    pub ends_in: Option<u64>,
    /// The operator; may be empty.
    pub by: String,
    /// The operator's note; may be empty.
    pub note: String,
}

/// A live lease.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Lease {
    /// The token.
    pub token: u64,
    /// The holder, as given to `acquire`.
    pub caller: String,
    /// The time that is left of it, in ms.
    #[serde(rename = "expires_in_ms")]
    pub expires_in: u64,
}

/// The last failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LastFailure {
    /// The instant.
    pub at: u64,
    /// The caller; may be empty.
    pub caller: String,
    /// The cause; may be empty.
    pub cause: String,
}

from_json!(Inspection, "inspection");
