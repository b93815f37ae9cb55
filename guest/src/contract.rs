//! The types of the contract, generated from `wit/`, where they are documented.

#![allow(missing_docs, unsafe_code, reason = "generated code")]
#![allow(clippy::all, reason = "generated code")]

wit_bindgen::generate!({
    path: "wit",
    world: "component",
    additional_derives: [PartialEq, Eq],
    pub_export_macro: true,
});

pub use halfopen::breaker::storage::{CommitOutcome, Snapshot};
pub use halfopen::breaker::types::*;
