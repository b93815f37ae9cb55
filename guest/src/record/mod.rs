//! The stored record of a dependency.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::policy::Policy;

mod check;
pub mod codec;
mod state;
mod transition;
pub mod window;

pub use state::{ClosedCounts, ClosedMode, Lease, OpenEnd, Override, State, StateKind};
pub use transition::{Details, Reason, Transition};

/// A new record's epoch and tokens start at this multiple of the version that the store gives for the missing one. One
/// commit raises the version by one and can make several changes of state, but never this number: so permits of an earlier
/// record stay stale.
const PER_VERSION: u64 = 1_000;

/// The record of one dependency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The epoch: it rises by one at every change of state.
    pub epoch: u64,
    /// The highest lease token ever granted.
    pub last_token: u64,
    /// The token of the lease that was settled last: another report of it is a repetition.
    pub settled: Option<u64>,
    /// The backoff level of the last opening.
    pub level: u32,
    /// Whether the breaker has been open since it was made or reset.
    pub opened_before: bool,
    /// The instant of the last write; none before the first.
    pub written: Option<u64>,
    /// The dependency's own policy, where one was configured.
    pub policy: Option<Policy>,
    /// The state, with the fields that belong to it alone.
    pub state: State,
    /// The last failure that was counted or that settled a probe, since the record was made or reset.
    pub last_failure: Option<LastFailure>,
    /// The last transition that raised the epoch.
    pub last_change: Option<Transition>,
}

/// A failure or a timeout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastFailure {
    /// Its instant.
    pub at: u64,
    /// The epoch in which it was reported.
    pub epoch: u64,
    /// The caller; may be empty.
    pub caller: String,
    /// The cause; may be empty.
    pub cause: String,
}

impl Record {
    /// The record of a dependency without one. `version` is the version of the missing record.
    pub fn new(version: u64, policy: &Policy) -> Record {
        let start = version.saturating_mul(PER_VERSION);
        Record {
            epoch: start,
            last_token: start,
            settled: None,
            level: 0,
            opened_before: false,
            written: None,
            policy: None,
            state: State::closed(None, ClosedMode::Plain, policy),
            last_failure: None,
            last_change: None,
        }
    }

    /// The leases that no report has settled, expired ones included.
    pub fn leases(&self) -> &[Lease] {
        match &self.state {
            State::HalfOpen { leases, .. } => leases,
            _ => &[],
        }
    }

    /// Takes each instant after `now` as `now`. Returns whether there was one, the last failure aside.
    pub fn correct_clock(&mut self, now: u64) -> bool {
        if let Some(failure) = &mut self.last_failure {
            failure.at = failure.at.min(now);
        }
        self.state.correct_clock(now)
    }
}
