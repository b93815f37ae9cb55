//! A circuit breaker for callers that share a dependency and nothing else.

mod acquire;
mod address;
mod batch;
mod bindings;
mod breaker;
mod builder;
mod call;
mod clock;
mod code_cache;
mod compiled;
mod component;
#[cfg(feature = "conformance")]
pub mod conformance;
mod draft;
mod elsewhere;
mod engine;
mod entropy;
mod error;
mod events;
mod group;
mod guard;
mod host;
mod instance;
mod last_known;
mod lease_keeper;
mod op;
mod pool;
#[cfg(feature = "replay")]
pub mod replay;
pub mod store;
#[cfg(test)]
mod testing;
mod transitions;
mod wire;
mod world;

pub use breaker::{Breaker, Decision};
pub use builder::{HostBuilder, Limits, OnStoreError};
pub use clock::{Clock, ManualClock, SystemClock};
pub use component::Component;
pub use error::{BreakerError, CallError, ComponentError, ComponentFault, OpenError, StoreError};
pub use guard::PermitGuard;
pub use host::Host;
pub use lease_keeper::LeaseKeeper;
pub use store::{Observed, Store};
pub use transitions::Transitions;
pub use wire::{
    Admission, DeferReason, Deferral, FailureRate, Forced, Inspection, InvalidPermit, Lease, LostProbe, Mode, Outcome,
    Permit, Policy, PolicyFault, PolicyInForce, PolicyOrigin, Ramp, Receipt, SlowCalls, StaleReason, State, Tally,
    Transition, TransitionReason, UnknownWord, Verdict, Window,
};
