use halfopen::{Host, HostBuilder, OpenError};
use halfopen_contract::BreakerError;
use halfopen_contract::engine::{Answer, Request};

use super::{Setup, Target};

/// A host of crate `halfopen`, without local admission.
#[derive(Debug)]
pub struct HostTarget(Host);

impl HostTarget {
    /// Opens a host. `configure` is handed the builder, to choose the engine for one.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(setup: Setup, configure: impl Fn(HostBuilder) -> HostBuilder) -> Result<Self, OpenError> {
        let builder = Host::builder().shared_store(setup.store).clock(setup.clock).seed(setup.seed);
        let builder = builder.namespace(&setup.namespace).default_policy(setup.default_policy).local_admission(false);
        configure(builder).build().map(HostTarget)
    }
}

impl Target for HostTarget {
    fn run(&mut self, request: &Request) -> Result<Answer, BreakerError> {
        self.0.breaker(&*request.dependency).perform(request.operation.clone())
    }
}
