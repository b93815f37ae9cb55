//! The types of the contract (`interface types` in `wit/types.wit`), as an engine and a host exchange them.
//!
//! Every length of time is in ms, every instant in ms since the Unix epoch. With feature `component-model` the types are
//! also those that wasmtime passes to a component: nothing is converted on the way.

mod decision;
mod error;
mod permit;
mod receipt;
mod report;
pub(crate) mod words;

pub use decision::{Admission, Decision, DeferReason, Deferral, Probe};
pub use error::{Error, PolicyFault, StorageError};
pub use permit::{InvalidPermit, Permit};
pub use receipt::{Mode, PolicyInForce, PolicyOrigin, Receipt, StaleReason, State, Verdict};
pub use report::{Operator, Outcome, Report, Tally, millis};
pub use words::UnknownWord;
