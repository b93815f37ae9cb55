//! The JSON of a transition.

use alloc::string::String;

use serde::Serialize;

use crate::record::{Details, Reason, StateKind, Transition};

/// A transition as JSON.
#[derive(Serialize)]
#[allow(missing_docs, reason = "documented in the contract")]
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slow: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures_in_row: Option<u64>,
}

impl<'a> From<&'a Transition> for TransitionDocument<'a> {
    fn from(transition: &'a Transition) -> Self {
        let Transition { from, to, at, epoch, reason, details } = transition;
        let Details { by, note, caller, cause, emptied } = details;
        TransitionDocument {
            from: *from,
            to: *to,
            at: *at,
            epoch: *epoch,
            reason: *reason,
            by,
            note,
            caller,
            cause,
            calls: emptied.map(|emptied| emptied.calls),
            failures: emptied.map(|emptied| emptied.failures),
            slow: emptied.map(|emptied| emptied.slow),
            failures_in_row: emptied.map(|emptied| emptied.failures_in_row),
        }
    }
}

impl TransitionDocument<'_> {
    /// The JSON text.
    pub fn to_json(&self) -> String {
        // Writing to memory fails for no value of this type.
        serde_json::to_string(self).unwrap_or_default()
    }
}
