//! A platform offers the halfopen circuit breaker to its tenants' plugins: components that import
//! `halfopen:breaker/breaker` (world `caller`), in the platform's own `Engine` and `Linker`.
//!
//! ```no_run
//! use halfopen::Host;
//! use halfopen_tenants::wasmtime::component::Linker;
//! use halfopen_tenants::wasmtime::{Engine, Store};
//! use halfopen_tenants::{Tenant, TenantCtx, TenantView, offer_to_linker};
//!
//! // The data of each instance of a plugin.
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
//!   numbers that have a meaning in that namespace alone: a permit that is made up, or another tenant's, is stale or counts
//!   for the tenant's own dependency.
//! - **The number of its dependencies is limited** ([`TenantBuilder::dependencies`]). One more is refused before anything of
//!   it is written. A dependency counts while it has a record in the store, also after a restart of the platform, and for
//!   about a second after a call about it. Records that other processes have added are seen when a new name comes, and at
//!   most a second late.
//! - **The number of its calls is limited** ([`TenantBuilder::calls`]). A call beyond the limit is refused before anything is
//!   read. Reports count as well: leave room for them.
//! - **It learns nothing of the platform.** Errors are those of the contract, in words that name no store, no path and
//!   no other tenant; the whole error goes to `tracing`.
//! - **An instance that ends gives back its leases.** When the [`TenantCtx`] is dropped, the leases that the instance has
//!   taken and not settled are released, as if `ignored`, so that the next caller probes at once. A lease that could not
//!   be given back expires. So a permit with a lease is reported by the instance that took it, or by another one while that
//!   one lives.
//!
//! What it may not rely on: a tenant that reports false outcomes harms its own dependencies, and so does one that takes
//! leases and does not report. Two tenants share a breaker only where the platform gives them one namespace.
//!
//! # Answers
//!
//! An acquire is answered from memory while the component's last answer holds, as by `Breaker::acquire`, with the rest of
//! `fresh-for`; the plugin may use that in turn and make no call at all. Every report goes to the store, since its receipt
//! shows its effect: a plugin that makes many calls sends a `report-tally`. The answer of an acquire while the store fails is
//! the host's [`OnStoreError`](halfopen::OnStoreError); a permit that is admitted without the store is stale when it is
//! reported.

mod args;
mod call;
mod context;
mod errors;
mod leases;
mod link;
mod quota;
mod rate;
mod tenant;

pub use context::{TenantCtx, TenantView};
pub use halfopen;
pub use link::{offer_control_to_linker, offer_control_to_linker_async, offer_to_linker, offer_to_linker_async};
pub use tenant::{Tenant, TenantBuilder};
pub use wasmtime;
