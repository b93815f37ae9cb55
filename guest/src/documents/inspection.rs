//! The JSON of an inspection.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::transition::TransitionDocument;
use crate::record::StateKind;

/// An inspection as JSON.
#[derive(Serialize)]
#[allow(missing_docs, reason = "documented in the contract")]
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
    pub calls: u64,
    pub failures: u64,
    pub slow: u64,
    pub failures_in_row: u64,
    pub epoch: u64,
    pub since: Option<u64>,
    pub next_due: Option<u64>,
    pub last_failure: Option<LastFailureDocument<'a>>,
    pub last_change: Option<TransitionDocument<'a>>,
}

/// An override as JSON.
#[derive(Serialize)]
#[allow(missing_docs, reason = "documented in the contract")]
pub struct ForcedDocument<'a> {
    pub mode: StateKind,
    pub since: u64,
    pub ends_in_ms: Option<u64>,
    pub by: &'a str,
    pub note: &'a str,
}

/// A live lease as JSON.
#[derive(Serialize)]
#[allow(missing_docs, reason = "documented in the contract")]
pub struct LeaseDocument<'a> {
    pub token: u64,
    pub caller: &'a str,
    pub expires_in_ms: u64,
}

/// The last failure as JSON.
#[derive(Serialize)]
#[allow(missing_docs, reason = "documented in the contract")]
pub struct LastFailureDocument<'a> {
    pub at: u64,
    pub caller: &'a str,
    pub cause: &'a str,
}

impl InspectionDocument<'_> {
    /// The JSON text.
    pub fn to_json(&self) -> String {
        // Writing to memory fails for no value of this type.
        serde_json::to_string(self).unwrap_or_default()
    }
}
