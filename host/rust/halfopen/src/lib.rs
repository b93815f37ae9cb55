//! A circuit breaker.

mod breaker;
mod commit;
mod error;
mod events;
mod host;
mod inner;
mod local_admission;
mod outage;
mod outbox;
mod spawn_blocking;
pub mod store;
#[cfg(test)]
mod tests;
#[cfg(feature = "tower")]
pub mod tower;
mod transitions;

pub use breaker::{Breaker, Decision, LeaseKeeper, PermitGuard, PolicyInForce, Recorded};
pub use error::{CallError, OpenError};
#[cfg(feature = "component")]
pub use halfopen_component::{Component, ComponentError, Limits};
#[cfg(feature = "conformance")]
pub use halfopen_contract::conformance;
pub use halfopen_contract::documents::{
    Forced, Inspection, InvalidDocument, LastFailure, Lease, Policy, Transition, TransitionReason,
};
pub use halfopen_contract::engine;
pub use halfopen_contract::entropy::Entropy;
pub use halfopen_contract::store::{AddressError, Store, StoreError};
pub use halfopen_contract::time::{Clock, ManualClock, Reading, SystemClock};
pub use halfopen_contract::types::{
    Admission, DeferReason, Deferral, InvalidPermit, Mode, Operator, Outcome, Permit, PolicyFault, PolicyOrigin,
    Receipt, Report, StaleReason, State, Tally, UnknownWord, Verdict,
};
pub use halfopen_contract::{BreakerError, EngineError};
pub use host::{Host, HostBuilder, Pruned};
pub use outage::OnStoreError;
pub use transitions::{Observed, Transitions};
