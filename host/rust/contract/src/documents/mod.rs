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

/// Reads a document from its text.
macro_rules! from_json {
    ($type:ident, $name:literal) => {
        impl std::str::FromStr for $type {
            type Err = $crate::documents::InvalidDocument;

            fn from_str(json: &str) -> Result<Self, Self::Err> {
                serde_json::from_str(json).map_err(|error| Self::Err { document: $name, why: error.to_string() })
            }
        }
    };
}

use from_json;
