//! What a host does while its store fails.

mod last_known;
mod store_backoff;

pub(crate) use last_known::{Fallback, LastKnown};
pub(crate) use store_backoff::StoreBackoff;

/// The answer of `acquire` while the store fails.
///
/// Of the acquires that the store fails one retries now and then: at first after 50 ms, later once a second. The others are
/// answered at once, and the first success ends the outage: [`Host::store_error`](crate::Host::store_error) shows whether it
/// goes on. All other operations go to the store each time, and return its error; but reports wait in the outbox and are
/// retried, as [`Recorded::Later`](crate::Recorded::Later) says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnStoreError {
    /// The error: `call` makes no call. The default.
    #[default]
    FailClosed,
    /// An admission. Nothing of such a call is recorded: see [`PermitGuard::unrecorded`](crate::PermitGuard::unrecorded).
    FailOpen,
    /// The last answer that this host has for the dependency: an admission, unrecorded, where it was to proceed; what is left
    /// of the deferral, where it was one. Where neither is known, as also after a probe, the error. It is never a probe.
    LastKnown,
}
