//! The JSON texts of the contract, as Rust reads and writes them: policy, inspection, transition.
//!
//! The engine alone checks a policy and knows its defaults; what stands here has neither.

mod inspection;
mod policy;
mod transition;

pub use inspection::{Forced, Inspection, LastFailure, Lease};
pub use policy::{EffectivePolicy, Policy};
pub use transition::{Transition, TransitionReason};

/// A JSON text that is not the document it should be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this is no {document}: {why}")]
pub struct InvalidDocument {
    document: &'static str,
    why: String,
}

fn parse<'a, T: serde::Deserialize<'a>>(document: &'static str, json: &'a str) -> Result<T, InvalidDocument> {
    serde_json::from_str(json).map_err(|error| InvalidDocument { document, why: error.to_string() })
}
