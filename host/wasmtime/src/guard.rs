//! A permit in the hands of a caller.

use std::time::Duration;

use crate::breaker::Breaker;
use crate::error::{BreakerError, StoreError};
use crate::lease_keeper::LeaseKeeper;
use crate::wire::{Outcome, Permit, Receipt};

/// A permit, to be settled with the outcome of the call.
///
/// Dropped without a report it is given back, as if ignored (a permit without a lease then writes nothing); dropped by a
/// panic it is reported as a failure.
#[derive(Debug)]
#[must_use = "a permit that is dropped is given back"]
pub struct PermitGuard {
    pub(crate) breaker: Breaker,
    pub(crate) permit: Permit,
}

impl PermitGuard {
    /// The permit, as plain data.
    pub fn permit(&self) -> Permit {
        self.permit
    }

    /// The token of the lease, for a probe: tokens only ever rise for a dependency, so it serves as a fencing token.
    pub fn token(&self) -> Option<u64> {
        self.permit.lease
    }

    /// What is left of the lease, unless it was renewed; none without a lease.
    pub fn expires_in(&self) -> Option<Duration> {
        todo!()
    }

    /// For how long from now this process may admit further calls under this permit without asking.
    pub fn fresh_for(&self) -> Duration {
        todo!()
    }

    /// Of those further calls, so many percent: below 100 during a ramp.
    pub fn percent(&self) -> u32 {
        todo!()
    }

    /// A call that takes so long or longer is slow; none where slow calls are not told apart.
    pub fn slower_than(&self) -> Option<Duration> {
        todo!()
    }

    /// Why nothing of this call will be recorded: the store failed, and the host was told to admit calls all the same.
    /// None for a permit that was given.
    pub fn unrecorded(&self) -> Option<&StoreError> {
        todo!()
    }

    /// Renews the lease in the background, for as long as the keeper lives; none without a lease.
    pub fn keep_alive(&self) -> Option<LeaseKeeper> {
        todo!()
    }

    /// Reports a success that took from when the permit was handed out until now.
    ///
    /// # Errors
    /// As [`report`](PermitGuard::report).
    pub fn success(self) -> Result<Receipt, BreakerError> {
        todo!()
    }

    /// Reports a failure that took from when the permit was handed out until now.
    ///
    /// # Errors
    /// As [`report`](PermitGuard::report).
    pub fn failure(self) -> Result<Receipt, BreakerError> {
        todo!()
    }

    /// Reports a call that was given up after a time limit.
    ///
    /// # Errors
    /// As [`report`](PermitGuard::report).
    pub fn timed_out(self) -> Result<Receipt, BreakerError> {
        todo!()
    }

    /// Gives the permit back: the call says nothing about the dependency.
    ///
    /// # Errors
    /// As [`report`](PermitGuard::report).
    pub fn ignore(self) -> Result<Receipt, BreakerError> {
        todo!()
    }

    /// Reports an outcome, and how long the call took where that is known.
    ///
    /// # Errors
    /// [`BreakerError`]; for a permit that is [`unrecorded`](PermitGuard::unrecorded), the store's error.
    pub fn report(self, outcome: Outcome, took: Option<Duration>) -> Result<Receipt, BreakerError> {
        let _ = (outcome, took);
        todo!()
    }

    /// [`report`](PermitGuard::report) for async code: the store is written on a thread of its own.
    ///
    /// # Errors
    /// As [`report`](PermitGuard::report).
    pub async fn report_async(self, outcome: Outcome, took: Option<Duration>) -> Result<Receipt, BreakerError> {
        blocking::unblock(move || self.report(outcome, took)).await
    }

    /// Renews the lease once. See [`Breaker::renew`].
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn renew(&self) -> Result<Receipt, BreakerError> {
        self.breaker.renew(self.permit)
    }

    /// The permit as plain data, for whoever reports in this one's place: nothing happens when it is dropped.
    pub fn into_permit(self) -> Permit {
        todo!()
    }
}
