//! The hosts under test.

use std::sync::Arc;

use halfopen::Host;
use halfopen_contract::BreakerError;
use halfopen_contract::documents::Policy;
use halfopen_contract::engine::{Answer, Request};
use halfopen_contract::store::Store;
use halfopen_contract::time::ManualClock;

/// A host under test: it runs the steps of a replay file, one by one.
///
/// A failed store is a [`BreakerError::Store`] and ends the run. A [`BreakerError::Engine`] is a failed expectation, and
/// so is every other error unless the step expects `"error"`.
pub trait Target {
    /// Runs one operation on a dependency; its answer is durable. Nothing is answered from local memory.
    ///
    /// # Errors
    /// [`BreakerError`].
    fn run(&mut self, request: &Request) -> Result<Answer, BreakerError>;
}

impl Target for Host {
    fn run(&mut self, request: &Request) -> Result<Answer, BreakerError> {
        self.breaker(&*request.dependency).perform(request.operation.clone())
    }
}

/// What a host under test is opened with.
#[derive(Clone)]
pub struct Setup {
    /// The store. It gives no time of its own in a run.
    pub store: Arc<dyn Store>,
    /// The namespace of the run.
    pub namespace: String,
    /// The virtual clock.
    pub clock: Arc<ManualClock>,
    /// The seed of the randomness.
    pub seed: u64,
    /// The policy of dependencies without one of their own. It may be invalid: then opening fails with
    /// [`OpenError::InvalidPolicy`](halfopen::OpenError::InvalidPolicy).
    pub default_policy: Policy,
}
