use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use halfopen::OpenError;
use halfopen_contract::list_faults;
use halfopen_contract::store::{Store, StoreError};
use halfopen_contract::time::ManualClock;

use super::clockless::Clockless;
use super::error::ReplayError;
use crate::scenario::{Scenario, ScenarioError};
use crate::target::{Setup, Target};

/// Opens a store again.
pub type OpenStore = dyn Fn() -> Result<Arc<dyn Store>, OpenError> + Send + Sync;

/// Opens a host under test.
pub type OpenTarget = dyn Fn(Setup) -> Result<Box<dyn Target>, OpenError> + Send + Sync;

/// What outlives the host in a run: the store with a namespace of the run's own, and the clock. Dropped, it removes the
/// namespace.
pub struct Stage<'a> {
    pub scenario: &'a Scenario,
    pub clock: Arc<ManualClock>,
    store: Arc<dyn Store>,
    /// None once it is removed.
    namespace: Option<String>,
    open_store: &'a OpenStore,
    open_target: &'a OpenTarget,
    /// The number of times that the host was opened.
    opened: u64,
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        // On the way out of a failure, which is the one to report.
        let _ = self.remove_namespace();
    }
}

impl<'a> Stage<'a> {
    pub fn new(
        scenario: &'a Scenario,
        store: Arc<dyn Store>,
        open_store: &'a OpenStore,
        open_target: &'a OpenTarget,
    ) -> Self {
        let clock = Arc::new(ManualClock::new(0));
        Stage { scenario, clock, store, namespace: Some(unique_name()), open_store, open_target, opened: 0 }
    }

    /// Opens the host.
    pub fn open(&mut self) -> Result<Box<dyn Target>, ReplayError> {
        // A process that starts again draws other numbers.
        let seed = self.scenario.seed.wrapping_add(self.opened);
        self.opened += 1;
        let setup = Setup {
            store: Arc::new(Clockless(Arc::clone(&self.store))),
            namespace: self.namespace.clone().unwrap_or_default(),
            clock: Arc::clone(&self.clock),
            seed,
            default_policy: self.scenario.policy.clone(),
        };
        (self.open_target)(setup).map_err(|error| match error {
            OpenError::InvalidPolicy(faults) => {
                let why = format!("the policy is invalid: {}", list_faults(&faults));
                ScenarioError::Malformed { line: 1, why }.into()
            }
            other => other.into(),
        })
    }

    /// Opens the store and the host again, after the host was closed.
    pub fn reopen(&mut self) -> Result<Box<dyn Target>, ReplayError> {
        self.store = (self.open_store)()?;
        self.open()
    }

    /// Ends the run.
    pub fn remove_namespace(&mut self) -> Result<(), StoreError> {
        self.namespace.take().map_or(Ok(()), |namespace| self.store.remove_namespace(&namespace))
    }
}

/// A name that no other process or run has: hashed under keys that the operating system gave this process at random. A
/// seeded generator would give a second process the same names.
fn unique_name() -> String {
    let [one, other] = [(); 2].map(|()| RandomState::new().hash_one(std::process::id()));
    format!("replay-{one:016x}{other:016x}")
}
