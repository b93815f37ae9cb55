//! The types of the contract (`interface types` in `wit/types.wit`), as the component and the host exchange them.
//!
//! They are written out rather than generated, so that they carry the names of the policy files, and so that nothing is
//! converted on the way to the component. Field order and names are those of the contract; wasmtime checks both when it
//! makes an instance.

mod decision;
mod inspection;
mod number;
mod permit;
mod policy;
mod receipt;
mod text;
pub mod types;

pub use decision::{Admission, Decision, DeferReason, Deferral, Probe};
pub use inspection::{Forced, Inspection, Lease, PolicyInForce, PolicyOrigin};
pub use permit::{InvalidPermit, Outcome, Permit, Tally};
pub use policy::{FailureRate, LostProbe, Policy, PolicyFault, Ramp, SlowCalls, Window};
pub use receipt::{Mode, Receipt, StaleReason, State, Transition, TransitionReason, Verdict};
pub use text::UnknownWord;

use wasmtime::component::{ComponentType, Lift, Lower};

/// Why an exported call came to nothing.
#[derive(Clone, Debug, PartialEq, ComponentType, Lift, Lower)]
#[component(variant)]
pub enum Error {
    #[component(name = "invalid-dependency")]
    InvalidDependency(String),
    #[component(name = "invalid-policy")]
    InvalidPolicy(Vec<PolicyFault>),
    #[component(name = "invalid-argument")]
    InvalidArgument(String),
    #[component(name = "contended")]
    Contended,
    #[component(name = "newer-version")]
    NewerVersion,
    #[component(name = "storage")]
    Storage(StorageError),
    #[component(name = "too-many-calls")]
    TooManyCalls(u64),
    #[component(name = "too-many-dependencies")]
    TooManyDependencies(u32),
    #[component(name = "other")]
    Other(String),
}

/// Why a store failed.
#[derive(Clone, Debug, PartialEq, ComponentType, Lift, Lower)]
#[component(variant)]
pub enum StorageError {
    #[component(name = "unavailable")]
    Unavailable(String),
    #[component(name = "denied")]
    Denied(String),
    #[component(name = "corrupt")]
    Corrupt(String),
    #[component(name = "other")]
    Other(String),
}
