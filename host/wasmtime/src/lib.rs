//! A circuit breaker for callers that share a dependency and nothing else: serverless invocations, edge isolates, worker
//! processes, cron jobs. When the dependency heals, exactly one caller probes it, under a lease that expires; everybody else
//! is told when to come back.
//!
//! ```
//! use halfopen::{CallError, Host};
//!
//! # let temp = std::env::temp_dir().join(format!("halfopen-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&temp)?;
//! # let address = format!("sqlite:{}/breakers.db", temp.display());
//! # let address = address.as_str();
//! # /*
//! let address = "sqlite:breakers.db"; // shared by every process that opens it
//! # */
//! let host = Host::open(address)?;
//! let payments = host.breaker("payments");
//!
//! match payments.call(|| charge("17.00")) {
//!     Ok(receipt) => println!("charged: {receipt}"),
//!     Err(CallError::Failed(error)) => println!("the call was made and failed: {error}"),
//!     Err(CallError::Deferred(deferral)) => println!("no call was made; come back in {:?}", deferral.wait()),
//!     Err(other) => return Err(other.into()),
//! }
//! # std::fs::remove_dir_all(&temp)?;
//! # fn charge(_: &str) -> Result<u32, String> { Ok(17) }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How it is built
//!
//! The rules of the state machine are one WebAssembly component, which this crate embeds and runs in wasmtime. The component
//! can neither read a clock nor reach a network; this crate gives it a [`Clock`], a [`Store`] and randomness, and holds no
//! rule itself. An operation loads the record of its dependency, runs the component on it (about a microsecond), and commits
//! what the component wrote, by compare-and-set; most acquires write nothing. Operations that are waiting share a commit.
//!
//! - [`Host`]: a store, a clock and the component, for the breakers of a namespace. [`HostBuilder`] sets each of them.
//! - [`Breaker`]: one dependency. [`call`](Breaker::call) and [`call_async`](Breaker::call_async) do it all;
//!   [`acquire`](Breaker::acquire) hands out a [`PermitGuard`] to report with.
//! - [`Policy`]: when a breaker trips, how long it stays open, who may probe.
//! - [`store`]: SQLite, PostgreSQL, etcd, memory, and the trait for a store of your own, with a suite to check it (feature
//!   `conformance`).
//! - [`Component`]: the embedded component, or another from a file, pinned by its digest or on an [`AllowList`].
//!
//! # What to know
//!
//! - All processes that share a record must read one clock; on etcd, clocks that are set by NTP, which is checked. A step
//!   of it delays recovery by one open window, or one lease, at most.
//! - While the component's last answer holds (the policy's `fresh_ms`, 250 ms by default) closed calls are admitted and open
//!   ones refused from memory, in nanoseconds, and successes are counted there: see [`Breaker`]. Another process hears of
//!   them that much later, so a small `minimum_calls` with many processes trips early. A crash loses the successes that
//!   have not been handed over, and outcomes that wait for a store to come back, and nothing else. `fresh_ms = 0` asks every time.
//! - A caller that crashes while it probes keeps the others waiting until its lease ends, and no longer.
//! - The outcome of a call is never masked by a store that fails: it is traced, and told to the store later, while it can
//!   count ([`Recorded::Later`]). What an acquire does meanwhile is your choice: [`OnStoreError`]. It comes back by itself.
//! - This crate speaks through `tracing`: transitions, lost probes, stale results and store errors.
//!
//! # Features
//!
//! - `sqlite` (default): the SQLite store.
//! - `postgres`: the PostgreSQL store.
//! - `etcd`: the etcd store.
//! - `conformance`: the suite that a store of your own is checked with.
//! - `plugin`: the component in a platform's own wasmtime.
//! - `replay`: runs files of steps through a host.
//! - `tenants`: a platform offers the breaker to its tenants' plugins.
//! - `tower`: a layer that puts a breaker in front of any tower service.

mod acquire;
mod address;
mod admission;
mod allow_list;
mod backoff;
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
mod course;
// Without the feature nothing is reached but through a host.
#[cfg_attr(not(feature = "plugin"), allow(dead_code))]
mod direct;
mod draft;
mod elsewhere;
mod engine;
mod entropy;
mod error;
mod events;
mod group;
mod guard;
mod host;
mod imports;
mod input;
mod instance;
mod invoke;
mod last_known;
mod lease_keeper;
mod least_lease;
mod local;
mod op;
mod outage;
#[cfg(feature = "plugin")]
pub mod plugin;
mod pool;
mod private_files;
mod prune;
mod race;
mod recorded;
#[cfg(feature = "replay")]
pub mod replay;
mod sent;
mod shortage;
pub mod store;
#[cfg(feature = "tenants")]
pub mod tenant;
#[cfg(test)]
mod testing;
#[cfg(feature = "tower")]
pub mod tower;
mod transitions;
mod undelivered;
mod wire;
mod world;

pub use allow_list::AllowList;
pub use breaker::{Breaker, Decision};
pub use builder::{HostBuilder, Limits, OnStoreError};
pub use clock::{Clock, Glance, ManualClock, SystemClock};
pub use component::Component;
pub use error::{AllowListError, BreakerError, CallError, ComponentError, ComponentFault, OpenError, StoreError};
pub use guard::PermitGuard;
pub use host::Host;
pub use lease_keeper::LeaseKeeper;
pub use prune::Pruned;
pub use recorded::Recorded;
pub use store::{Observed, Store};
pub use transitions::Transitions;
/// The very wasmtime that this crate is built with: a platform that takes it from here cannot mix two versions.
#[cfg(any(feature = "plugin", feature = "tenants"))]
pub use wasmtime;
pub use wire::{
    Admission, DeferReason, Deferral, FailureRate, Forced, Inspection, InvalidPermit, Lease, LostProbe, Mode, Outcome,
    Permit, Policy, PolicyFault, PolicyInForce, PolicyOrigin, Ramp, Receipt, SlowCalls, StaleReason, State, Tally,
    Transition, TransitionReason, UnknownWord, Verdict, Window,
};
