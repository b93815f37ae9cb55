#![doc = include_str!("../README.md")]
//!
//! # An operation
//!
//! [`Plugin`] is a handle on an instance of the component in a wasmtime store of the platform. An operation on it loads the
//! record, lets the component evaluate it on that snapshot, and makes the component's commit durable as one compare-and-set
//! before it answers. A commit before an error or a trap is dropped. After a lost race the operation is evaluated again, on
//! the record as it is then. The component may touch the record of its own dependency alone. Where the store of the records
//! has a clock, the component reads that one; otherwise [`PluginCtxBuilder::clock`]. The default policy is set when the
//! instance is made. Where the component is composed with a tenant's there is no handle to call: see
//! [`Commits::WriteThrough`].
//!
//! Async operations wait for the store of the records on a thread for work that blocks, on any executor. Where the future of
//! one is dropped, a write that has begun goes on, as if the caller had crashed; where it is dropped while the component runs,
//! the instance is spent.
//!
//! Every operation reads the store. A `Host` of crate `halfopen` answers most calls from memory, shares commits between
//! threads, and renews leases; where the platform needs no engine of its own, it is the better choice.
//!
//! # After a trap
//!
//! wasmtime enters no component in a store in which one has trapped. The operation answers
//! [`EngineError`](contract::EngineError), and so does each one after it: drop the wasmtime store, with all that is in it, and
//! make another. [`PluginPool`] does so, and gives each call an instance of its own. Do not share a
//! wasmtime store between the component and code that you do not trust: a trap there spends the component too.
//!
//! # Settings of the platform
//!
//! - `Config`: the component model and the WebAssembly features that are on by default are all it takes. Where the
//!   platform has no asynchronous components, `concurrency_support(false)` halves the cost of a call. The ABI is plain: no
//!   resources, no async functions, no threads.
//! - Time: a call takes microseconds. With `epoch_interruption`, set a deadline of a second or more before each operation;
//!   with `consume_fuel`, a million units are plenty. A deadline that yields is for async calls only.
//! - Memory: 2 MiB and 100 table elements are plenty, by a `ResourceLimiter` or by the limits of the pooling allocator, in
//!   which an instance of the component takes one component, one memory, [`CORE_INSTANCES`] and [`TABLES`].
//!   `Store::set_hostcall_fuel` bounds the bytes that it passes to the host at once.
//! - [`add_to_linker`] for calls that are not async, [`add_to_linker_async`] for those that are.
//!
//! # The code
//!
//! `component`: the bytes, the digest, the check of the world. `code`: compiled code and its cache. `instance`: an instance
//! with its imports and exports, the same for both users. `engine`: [`ComponentEngine`] and its limits. `plugin`: the
//! handles of a platform.

mod calls;
mod code;
mod component;
mod engine;
mod error;
mod instance;
mod plugin;
mod runtime;

pub use component::Component;
pub use engine::{ComponentEngine, ComponentEngineError, Limits};
pub use error::{ComponentError, InstantiateError, PrepareError};
pub use halfopen_contract as contract;
pub use plugin::{
    CORE_INSTANCES, Commits, ContextError, Plugin, PluginCtx, PluginCtxBuilder, PluginPool, PluginPre, PluginView,
    PoolError, TABLES, add_to_linker, add_to_linker_async,
};
pub use wasmtime;
