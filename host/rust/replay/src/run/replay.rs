use std::ops::ControlFlow;
use std::sync::Arc;

use halfopen::{Host, HostBuilder, OpenError};
use halfopen_contract::store::{MemoryStore, Store};

use super::error::ReplayError;
use super::stage::{OpenStore, OpenTarget, Stage};
use super::steps::Run;
use super::summary::{StepAnswer, Summary};
use crate::scenario::Scenario;
use crate::target::{Setup, Target};

/// Runs scenarios against hosts of one kind, on a store in memory unless another is given.
#[must_use]
pub struct Replay {
    store: Arc<dyn Store>,
    open_store: Box<OpenStore>,
    open_target: Box<OpenTarget>,
}

impl Replay {
    /// Against hosts of crate `halfopen`, without local admission. `configure` is handed the builder of each, to choose the
    /// engine for one.
    pub fn host(configure: impl Fn(HostBuilder) -> HostBuilder + Send + Sync + 'static) -> Self {
        Replay::new(move |setup| -> Result<Box<dyn Target>, OpenError> {
            let Setup { store, namespace, clock, seed, default_policy } = setup;
            let builder = Host::builder().shared_store(store).namespace(&namespace).clock(clock).seed(seed);
            let builder = builder.default_policy(default_policy).local_admission(false);
            Ok(Box::new(configure(builder).build()?))
        })
    }

    /// Against hosts of another make. `open` is called at the beginning of a run, and again at each `restart` step.
    pub fn new<E: Into<OpenError>>(open: impl Fn(Setup) -> Result<Box<dyn Target>, E> + Send + Sync + 'static) -> Self {
        let open_target = Box::new(move |setup| open(setup).map_err(Into::into));
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let same = Arc::clone(&store);
        Replay { store, open_store: Box::new(move || Ok(Arc::clone(&same))), open_target }
    }

    /// On a store that a function opens: now, and again at each `restart` step, as another process would.
    ///
    /// # Errors
    /// Those of the function.
    pub fn open_store<E: Into<OpenError>>(
        self,
        open: impl Fn() -> Result<Arc<dyn Store>, E> + Send + Sync + 'static,
    ) -> Result<Self, OpenError> {
        let open = move || open().map_err(Into::into);
        Ok(Replay { store: open()?, open_store: Box::new(open), ..self })
    }

    /// Runs a scenario to its end.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub fn run(&self, scenario: &Scenario) -> Result<Summary, ReplayError> {
        self.run_showing(scenario, |_| ControlFlow::Continue(()))
    }

    /// Runs a scenario to its end, and shows every answer at once. A function that breaks stops the run.
    ///
    /// # Errors
    /// [`ReplayError`].
    pub fn run_showing(
        &self,
        scenario: &Scenario,
        mut show: impl FnMut(&StepAnswer<'_>) -> ControlFlow<()>,
    ) -> Result<Summary, ReplayError> {
        let mut stage = Stage::new(scenario, Arc::clone(&self.store), &*self.open_store, &*self.open_target);
        let failures = Run::new(&mut stage, &mut show)?.finish()?;
        stage.remove_namespace()?;
        Ok(Summary { steps: scenario.steps.len(), failures })
    }
}

impl std::fmt::Debug for Replay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").finish_non_exhaustive()
    }
}
