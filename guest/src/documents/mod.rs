//! The JSON documents that the component writes, policies aside. They are described in `wit/types.wit`.

mod inspection;
mod transition;

pub use inspection::{ForcedDocument, InspectionDocument, LastFailureDocument, LeaseDocument};
pub use transition::TransitionDocument;
