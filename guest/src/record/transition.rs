//! A transition: a change of state, or an entry from a state to itself.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::state::{ClosedCounts, StateKind};
use crate::contract::Operator;
use crate::text::clean;

/// A change of state, or an entry from a state to itself with the epoch unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transition {
    /// The state before.
    pub from: StateKind,
    /// The state after.
    pub to: StateKind,
    /// The instant.
    pub at: u64,
    /// The epoch after.
    pub epoch: u64,
    /// The reason.
    pub reason: Reason,
    /// The rest that an operator wants to know.
    pub details: Details,
}

/// Why a transition came about. The reasons are listed in `wit/types.wit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "documented in the contract")]
pub enum Reason {
    ConsecutiveFailures,
    FailureRate,
    SlowCalls,
    RampFailure,
    ProbeDue,
    ProbeSucceeded,
    ProbeFailed,
    ProbeTimedOut,
    ProbeSlow,
    ProbeLost,
    Forced,
    OverrideRemoved,
    OverrideEnded,
    Reset,
    Configured,
    Forgotten,
}

/// The people and numbers behind a transition; a text is empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Details {
    /// The operator.
    pub by: String,
    /// The operator's note.
    pub note: String,
    /// The caller whose failure brought it about, or the holder of the lost lease.
    pub caller: String,
    /// The cause of that failure.
    pub cause: String,
    /// The counts that a trip empties.
    pub emptied: Option<ClosedCounts>,
}

impl Details {
    /// Those of an operator's act.
    pub fn operator(operator: &Operator) -> Details {
        Details { by: clean(&operator.by), note: clean(&operator.note), ..Details::default() }
    }
}
