//! Asking for a permit.

use crate::breaker::{Breaker, Decision};
use crate::error::BreakerError;

impl Breaker {
    /// Asks whether a call may be made.
    ///
    /// # Errors
    /// [`BreakerError`]; while the store fails, as [`OnStoreError`](crate::OnStoreError) says.
    pub fn acquire(&self) -> Result<Decision, BreakerError> {
        todo!()
    }

    /// [`acquire`](Breaker::acquire) for async code: the store is asked on a thread of its own.
    ///
    /// # Errors
    /// As [`acquire`](Breaker::acquire).
    pub async fn acquire_async(&self) -> Result<Decision, BreakerError> {
        let breaker = self.clone();
        blocking::unblock(move || breaker.acquire()).await
    }
}
