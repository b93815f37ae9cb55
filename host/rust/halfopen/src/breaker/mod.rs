//! The breaker of one dependency.
//!
//! - `handle`: [`Breaker`] itself. `acquire`, `call`, `report`, `control`: its operations.
//! - [`PermitGuard`]: a permit in the hands of a caller; [`LeaseKeeper`] renews its lease.
//! - `record`: how the outcome of a call without a lease is recorded: in memory, in the store, or in the outbox.

mod acquire;
mod call;
mod control;
mod handle;
mod lease_keeper;
mod perform;
mod permit_guard;
mod permit_terms;
mod record;
mod report;

pub use acquire::Decision;
pub(crate) use control::parse_transition;
pub use handle::Breaker;
pub use lease_keeper::LeaseKeeper;
pub use permit_guard::PermitGuard;
pub use record::Recorded;
