//! Renews a lease while a probe runs.

use std::time::Duration;

use crate::breaker::Breaker;
use crate::wire::{Permit, StaleReason};

/// Renews a lease at a third of its length, from a thread of its own, until it is dropped or the lease is lost.
#[derive(Debug)]
#[must_use = "dropped, it stops renewing"]
pub struct LeaseKeeper {}

impl LeaseKeeper {
    /// Starts renewing. `expires_in` is the length of the lease; a permit without a lease is not renewed.
    pub fn start(breaker: &Breaker, permit: Permit, expires_in: Duration) -> LeaseKeeper {
        LeaseKeeper::start_with(breaker, permit, expires_in, |_| {})
    }

    /// The same, and tells when the lease is lost. `on_lost` is called at most once, from the keeper's thread.
    pub fn start_with(
        breaker: &Breaker,
        permit: Permit,
        expires_in: Duration,
        on_lost: impl FnOnce(&StaleReason) + Send + 'static,
    ) -> LeaseKeeper {
        let _ = (breaker, permit, expires_in, on_lost);
        todo!()
    }

    /// Why the lease is lost; none while it is held. Others may probe then, and the result will be stale.
    pub fn lost(&self) -> Option<StaleReason> {
        todo!()
    }
}
