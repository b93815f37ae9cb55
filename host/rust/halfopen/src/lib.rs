#![doc = include_str!("../README.md")]
//!
//! # The types
//!
//! - [`Host`]: a store, a clock and an engine, for the breakers of a namespace. [`HostBuilder`] sets each of them.
//! - [`Breaker`]: one dependency. [`call`](Breaker::call) and [`call_async`](Breaker::call_async) do everything;
//!   [`acquire`](Breaker::acquire) hands out a [`PermitGuard`] to report with.
//! - [`Policy`]: when a breaker trips, how long it stays open, how it recovers.
//! - [`OnStoreError`]: the answer of an acquire while the store fails. [`Recorded`]: where an outcome is.
//! - [`store`]: the stores, and the trait for a store of your own. [`engine`]: the trait for an engine.
//!
//! # A tour of the code
//!
//! The rules of the state machine live in crate `halfopen-guest`; this crate holds none. An operation loads the record of its
//! dependency, lets the engine evaluate the operation on it, and commits what it writes by compare-and-set. This is the way of
//! an acquire that memory does not answer, from [`Breaker::acquire`] to the SQL and back:
//!
//! 1. `Breaker::acquire` (`breaker/acquire.rs`) finds no cached decision (`local_admission/decision_cell.rs`).
//! 2. `LocalBreaker::enter` (`local_admission/local_breaker.rs`): of the callers that would go on, one does. The others wait
//!    for its answer.
//! 3. `StoreBackoff::attempt` (`outage/store_backoff.rs`): during an outage one acquire of the host tries, and the others get
//!    the answer of [`OnStoreError`].
//! 4. `Runner::run` (`commit/runner.rs`) drives the operation: load, evaluate, commit, and again after a lost race, as the
//!    compare-and-set loop says (`cas/cas_loop.rs` of crate `halfopen-contract`).
//! 5. `Executor::load` (`commit/executor.rs`) reads the record through [`Store::load`]: the `SELECT` is in the store's crate,
//!    `sqlite/src/statements.rs` for one.
//! 6. `Executor::evaluate` lets the [`Engine`](engine::Engine) decide: the component (`component/src/engine`) or the rules
//!    linked in (`native/src/engine.rs`). Most acquires write nothing, and go on with step 9.
//! 7. `Group::commit` (`commit/group.rs`): the writes of operations that wait together share a commit.
//! 8. `Batch::run` (`commit/batch.rs`) evaluates them one on the other, and [`Store::commit`] writes them: the `UPDATE` is in
//!    the store's crate. An operation alone skips this step.
//! 9. `Ticket::answered` (`local_admission/local_breaker.rs`) caches the decision for the calls to come.
//! 10. The caller gets a [`Decision`] with a [`PermitGuard`] (`breaker/permit_guard.rs`).
//!
//! The outcome comes back through `breaker/record.rs`: a success is counted in memory
//! (`local_admission/success_counter.rs`), a failure takes steps 4 to 8 at once, with the successes before it. What has yet to
//! be reported waits in the outbox (`outbox/mod.rs`): successes for their timer, and all outcomes for a store that is out of
//! reach. [`LeaseKeeper`] renews the lease of a probe while it runs.
//!
//! The modules, each above those that it uses: `tower`, `host`, `breaker`, `inner` (the parts of a host that its handles
//! share), `outbox`, `commit` and `local_admission`, `outage`. No two of them use each other.

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

pub use breaker::{Breaker, Decision, LeaseKeeper, PermitGuard, Recorded};
pub use error::{CallError, OpenError};
#[cfg(feature = "component")]
pub use halfopen_component::{Component, ComponentError, Limits};
#[cfg(feature = "conformance")]
pub use halfopen_contract::conformance;
pub use halfopen_contract::documents::{
    EffectivePolicy, Forced, Inspection, InvalidDocument, LastFailure, Lease, Policy, Transition, TransitionReason,
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
