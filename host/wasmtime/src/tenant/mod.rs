//! A platform offers the breaker to its tenants' plugins: components that import `halfopen:breaker/breaker` (world
//! `caller`), in the platform's own `Engine` and `Linker`.
//!
//! ```no_run
//! use halfopen::Host;
//! use halfopen::tenant::{Tenant, TenantCtx, TenantView, offer_to_linker};
//! use halfopen::wasmtime::component::Linker;
//! use halfopen::wasmtime::{Engine, Store};
//!
//! // What the platform keeps for each instance of a plugin.
//! struct Data {
//!     breaker: TenantCtx,
//! }
//!
//! impl TenantView for Data {
//!     fn tenant(&mut self) -> &mut TenantCtx {
//!         &mut self.breaker
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Once.
//! let engine = Engine::default();
//! let host = Host::open("sqlite:/var/lib/platform/breakers.db")?;
//! let mut linker: Linker<Data> = Linker::new(&engine);
//! offer_to_linker(&mut linker)?;
//!
//! // For each tenant.
//! let acme = Tenant::builder(&host, "acme").dependencies(20).calls(100, 200).build();
//!
//! // For each instance of one of its plugins.
//! let store = Store::new(&engine, Data { breaker: acme.context() });
//! # drop(store);
//! # Ok(())
//! # }
//! ```
//!
//! # What a platform may rely on
//!
//! - **A tenant stays in its namespace.** It names dependencies only; the namespace is the platform's. A permit is two
//!   numbers that mean something in that namespace alone: one that was made up, or was another's, is stale or counts for
//!   the tenant's own dependency.
//! - **It has so many dependencies and no more** ([`TenantBuilder::dependencies`]). What would be one more is refused
//!   before anything of it is written. A dependency counts while it has a record in the store, also after a restart of
//!   the platform, and for a second or so from when it was last asked for. What other processes have added is seen when
//!   a new name comes, and at most a second late.
//! - **It calls so often and no more** ([`TenantBuilder::calls`]). What is beyond that is refused before anything is read:
//!   reports too, so leave room for them.
//! - **It is told nothing of the platform.** Errors are those of the contract, in words that name no store, no path and
//!   no other tenant; the whole error goes to `tracing`.
//! - **An instance that ends gives back its leases.** When the [`TenantCtx`] is dropped, the leases that the instance has
//!   taken and not settled are released, as if `ignored`, so that the next caller probes at once. A lease that could not
//!   be given back ends by itself. So a permit that holds a lease is reported by the instance that took it, or by another
//!   one while that one lives.
//!
//! What it may not rely on: a tenant that reports what is not so harms its own dependencies, and so does one that takes
//! leases and keeps silent. Two tenants share a breaker only where the platform gives them one namespace.
//!
//! # How it is answered
//!
//! An acquire is answered from memory while the component's last answer holds, as by [`Breaker::acquire`], with what is
//! left of `fresh-for`; the plugin may go by that in turn and not ask at all. Every report goes to the store, since its
//! receipt says what came of it: who makes many calls sends a `report-tally`. What an acquire does while the store fails is
//! the host's [`OnStoreError`](crate::OnStoreError); a permit that is admitted without the store is stale when it is
//! reported.
//!
//! [`Breaker::acquire`]: crate::Breaker::acquire

mod ask;
mod builder;
mod context;
mod held;
mod link;
mod names;
mod rate;
mod read;
mod told;

use std::fmt;
use std::sync::Arc;

pub use builder::TenantBuilder;
pub use context::{TenantCtx, TenantView};
pub use link::{offer_control_to_linker, offer_control_to_linker_async, offer_to_linker, offer_to_linker_async};

use crate::host::Host;
use names::Names;
use rate::Rate;

/// One tenant of a platform: its namespace and its limits, which all instances of its plugins share. Clones are cheap, and
/// speak of the same tenant.
///
/// It costs about a kilobyte, and what is known of its dependencies another kilobyte each; the component and its
/// instances are shared with the host that it was made from. Keep one for each tenant, for as long as it has instances:
/// a second one would count anew.
#[derive(Clone)]
pub struct Tenant {
    inner: Arc<Inner>,
}

struct Inner {
    host: Host,
    names: Names,
    rate: Rate,
}

impl Tenant {
    /// A tenant whose breakers are in a namespace of the host's store. The host's own namespace plays no part.
    pub fn builder(host: &Host, namespace: &str) -> TenantBuilder {
        TenantBuilder::new(host, namespace)
    }

    /// What one instance of a plugin of this tenant goes by: put it into the data of the instance's store.
    pub fn context(&self) -> TenantCtx {
        TenantCtx::new(self.clone())
    }

    /// The tenant's breakers for the platform's own use, without the limits.
    pub fn host(&self) -> &Host {
        &self.inner.host
    }
}

impl fmt::Debug for Tenant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tenant").field("namespace", &self.host().namespace()).finish_non_exhaustive()
    }
}
