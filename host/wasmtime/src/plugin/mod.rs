//! The component in a platform's own wasmtime: its `Engine`, its `Linker`, its `Store`s, with records in any
//! [`Store`](crate::Store) of this crate or of the platform.
//!
//! ```
//! use std::sync::Arc;
//!
//! use halfopen::plugin::{self, Decision, PluginCtx, PluginPre, PluginView};
//! use halfopen::store::MemoryStore;
//! use halfopen::wasmtime::component::Linker;
//! use halfopen::wasmtime::{Engine, Store};
//! use halfopen::{Component, Outcome};
//!
//! struct Data {
//!     plugin: PluginCtx,
//! }
//!
//! impl PluginView for Data {
//!     fn plugin(&mut self) -> &mut PluginCtx {
//!         &mut self.plugin
//!     }
//! }
//!
//! // Once a process.
//! let engine = Engine::default();
//! let mut linker = Linker::new(&engine);
//! plugin::add_to_linker::<Data>(&mut linker)?;
//! let pre = PluginPre::new(&linker, &Component::embedded())?;
//! let context = PluginCtx::builder(Arc::new(MemoryStore::new())).namespace("shop");
//!
//! // Once a store.
//! let mut store = Store::new(&engine, Data { plugin: context.build()? });
//! let mut breakers = pre.instantiate(&mut store)?;
//!
//! // Again and again.
//! match breakers.acquire(&mut store, "payments", "worker 7")? {
//!     Decision::Proceed(admission) => {
//!         breakers.report(&mut store, "payments", admission.permit, Outcome::Success, None)?;
//!     }
//!     Decision::Probe(probe) => println!("the probe, under lease {:?}", probe.permit.lease),
//!     Decision::Defer(deferral) => println!("come back in {:?}", deferral.wait()),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What the handle does
//!
//! [`Plugin`] is a handle on an instance of the component in a store of the platform, [`AsyncPlugin`] the same for async
//! calls. An operation on it loads the record, lets the component decide on that view, and makes what the component
//! committed durable as one compare-and-set before it answers. What the component committed before it answered an error or
//! trapped is dropped. Where another was faster it decides again, on the record as it is then. It may touch the record of
//! its own dependency only. Where the store has a clock, the component goes by that; otherwise by the
//! [`PluginCtxBuilder::clock`]. The default policy is set when the instance is made.
//!
//! Async operations wait for the store on a thread for work that blocks, on any executor. Where the future of one is
//! dropped, what was begun in the store goes on, as if the caller had crashed; where it is dropped while the component
//! runs, the instance is spent.
//!
//! Every operation asks the store. A [`Host`](crate::Host) answers most calls from memory, shares commits between
//! threads, and renews leases; where the platform needs no engine of its own, it is the better choice.
//!
//! # After a trap
//!
//! wasmtime enters no component in a store in which one has trapped. The operation answers
//! [`ComponentFault`](crate::ComponentFault), and so does each one after it: drop the store, with all that is in it, and
//! make another. [`PluginPool`] and [`AsyncPluginPool`] do so, and lend an instance to each call. Do not share a store
//! between the component and code that you do not trust: what traps there takes the other along.
//!
//! # What the platform sets
//!
//! - `Config`: the component model and the WebAssembly features that are on by default are all it takes. Where the
//!   platform has no asynchronous components, `concurrency_support(false)` halves the cost of a call. The ABI is plain: no
//!   resources, no async functions, no threads.
//! - Time: a call takes microseconds. With `epoch_interruption`, set a deadline of a second or more before each operation;
//!   with `consume_fuel`, a million units are plenty. A deadline that yields is for [`AsyncPlugin`] only.
//! - Memory: 2 MiB and 100 table elements are plenty, by a `ResourceLimiter` or by the limits of the pooling allocator, in
//!   which an instance of the component takes one component, one memory, [`CORE_INSTANCES`] and [`TABLES`].
//!   `Store::set_hostcall_fuel` bounds what it passes to the host at once.
//! - [`add_to_linker`] for calls that are not async, [`add_to_linker_async`] for those that are.
//!
//! # Composed with a tenant
//!
//! Where a tenant's component has been composed with this one (with `wac`, say), the platform instantiates the
//! composition, and the calls of the breaker go from one component to the other: there is no handle to call. A context
//! with [`Commits::AtOnce`] serves those.

mod context;
mod instance;
mod operations;
mod pool;
mod prepare;

pub use crate::wire::{Decision, Probe};
pub use context::{Commits, ContextError, PluginCtx, PluginCtxBuilder};
pub use instance::{AsyncPlugin, InstantiateError, Plugin};
pub use pool::{AsyncPluginPool, PluginPool, PoolError};
pub use prepare::{PluginPre, PrepareError};

use wasmtime::component::Linker;

/// How many core instances an instance of the embedded component consists of.
pub const CORE_INSTANCES: u32 = 3;

/// How many tables an instance of the embedded component has.
pub const TABLES: u32 = 2;

/// The data of a platform's store, as the component's imports see it.
pub trait PluginView: Send + 'static {
    /// The context of the store.
    fn plugin(&mut self) -> &mut PluginCtx;
}

/// Supplies what the component imports: `storage`, `clock` and `entropy` of `halfopen:breaker@0.1`. For calls that are not
/// async; in async ones a context with [`Commits::AtOnce`] would block the executor.
///
/// # Errors
/// One of them is in the linker already.
pub fn add_to_linker<T: PluginView>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    crate::imports::link(linker, |data: &mut T| data.plugin().imports()).map_err(added_twice)
}

/// The same for async calls. A store with an instance that is linked with it takes async calls only.
///
/// # Errors
/// One of them is in the linker already.
pub fn add_to_linker_async<T: PluginView>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    crate::imports::link_async(linker, |data: &mut T| data.plugin().imports()).map_err(added_twice)
}

fn added_twice(error: wasmtime::Error) -> wasmtime::Error {
    error.context("the linker has storage, clock or entropy of halfopen:breaker already; add them once, plain or async")
}
