//! The contract of the halfopen circuit breaker in Rust, and what every host and store builds on.
//!
//! The rules of the breaker live in one place, the guest. A host runs them through an [`Engine`](engine::Engine): one
//! operation on one record gives an answer, and perhaps a write. A host keeps the records in a [`Store`](store::Store),
//! and holds no rule of its own.
//!
//! - [`types`]: what is passed to an engine and back, as `wit/types.wit` documents it.
//! - [`documents`]: the JSON texts of the contract: policy, inspection, transition.
//! - [`engine`]: an operation, its evaluation, and the trait [`Engine`](engine::Engine).
//! - [`store`]: the trait [`Store`](store::Store), the store in memory, and a guide to a store of your own.
//! - [`cas`]: the compare-and-set loop: load, evaluate, commit, and again after a lost race.
//! - [`events`]: the events for `tracing` of operations that are done.
//! - [`time`]: the clock, and the one backoff.
//! - [`pool`]: objects that are kept for the next operation: instances, connections.
//! - [`conformance`] (feature `conformance`): the suite that checks a store.
//!
//! An application uses crate `halfopen`, which is built on this one.

pub mod cas;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod documents;
pub mod engine;
pub mod entropy;
mod error;
pub mod events;
pub mod pool;
pub mod store;
pub mod time;
pub mod types;

pub use error::{BreakerError, EngineError, list_faults};
