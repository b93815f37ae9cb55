//! The JSON documents that the component writes, policies aside. They are described in `wit/types.wit`.

#![allow(missing_docs, reason = "documented in the contract")]

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::record::{ClosedCounts, Details, Reason, StateKind, Transition};

/// A document as a JSON text.
pub fn to_json(document: &impl Serialize) -> String {
    // Writing to memory fails for no value of these types.
    serde_json::to_string(document).unwrap_or_default()
}

/// An inspection.
#[derive(Serialize)]
pub struct InspectionDocument<'a> {
    pub dependency: &'a str,
    pub at: u64,
    pub state: StateKind,
    #[serde(rename = "override")]
    pub forced: Option<ForcedDocument<'a>>,
    pub probe_due: bool,
    pub leases: Vec<LeaseDocument<'a>>,
    pub successes: u32,
    pub level: u32,
    #[serde(flatten)]
    pub counts: ClosedCounts,
    pub epoch: u64,
    pub since: Option<u64>,
    pub next_due: Option<u64>,
    pub last_failure: Option<LastFailureDocument<'a>>,
    pub last_change: Option<TransitionDocument<'a>>,
}

/// An override.
#[derive(Serialize)]
pub struct ForcedDocument<'a> {
    pub mode: StateKind,
    pub since: u64,
    pub ends_in_ms: Option<u64>,
    pub by: &'a str,
    pub note: &'a str,
}

/// A live lease.
#[derive(Serialize)]
pub struct LeaseDocument<'a> {
    pub token: u64,
    pub caller: &'a str,
    pub expires_in_ms: u64,
}

/// The last failure.
#[derive(Serialize)]
pub struct LastFailureDocument<'a> {
    pub at: u64,
    pub caller: &'a str,
    pub cause: &'a str,
}

/// A transition.
#[derive(Serialize)]
pub struct TransitionDocument<'a> {
    pub from: StateKind,
    pub to: StateKind,
    pub at: u64,
    pub epoch: u64,
    pub reason: Reason,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub by: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub note: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub caller: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub cause: &'a str,
    #[serde(flatten)]
    pub emptied: Option<ClosedCounts>,
}

impl<'a> From<&'a Transition> for TransitionDocument<'a> {
    fn from(transition: &'a Transition) -> Self {
        let &Transition { from, to, at, epoch, reason, ref details } = transition;
        let Details { by, note, caller, cause, emptied } = details;
        TransitionDocument { from, to, at, epoch, reason, by, note, caller, cause, emptied: *emptied }
    }
}
