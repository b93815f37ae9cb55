//! Runs scenarios.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::namespace::OwnNamespace;
use super::steps::{Run, Show, in_file_names};
use super::target::{Ground, Taker, Target};
use super::untimed::Untimed;
use super::{Answer, Report, Scenario};
use crate::address::{self, Stay};
use crate::store::{MemoryStore, Store};
use crate::{BreakerError, Component, Host, ManualClock, OpenError, StoreError};

/// Why a replay file was not run to its end. Expectations that do not hold are no error; they are in the [`Report`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] io::Error),
    /// The file is not a well-formed replay file. Nothing of it was run.
    #[error("line {line}: {why}")]
    Malformed {
        /// The line; the first is 1.
        line: usize,
        /// What is wrong with it.
        why: String,
    },
    /// The host could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run was stopped: see [`Replay::stop_when`].
    #[error("stopped")]
    Stopped,
}

type Opening = dyn Fn() -> Result<Arc<dyn Store>, OpenError> + Send + Sync;

type Making = dyn Fn(Ground) -> Result<Box<dyn Target>, OpenError> + Send + Sync;

/// Runs scenarios against a store.
#[must_use]
pub struct Replay {
    store: Arc<dyn Store>,
    reopen: Option<Box<Opening>>,
    component: Component,
    target: Option<Box<Making>>,
    stop: Option<Arc<AtomicBool>>,
    local_admission: bool,
}

impl Replay {
    /// Against a store in memory.
    pub fn in_memory() -> Self {
        Self::on(Arc::new(MemoryStore::new()))
    }

    /// Against this store, which stays open when a `restart` step closes the host.
    pub fn on(store: Arc<dyn Store>) -> Self {
        Replay {
            store,
            reopen: None,
            component: Component::embedded(),
            target: None,
            stop: None,
            local_admission: false,
        }
    }

    /// Against a store that can be opened more than once; a `restart` step opens it anew, as another process would.
    ///
    /// # Errors
    ///
    /// What `open` says, which is called once here.
    pub fn opening(
        open: impl Fn() -> Result<Arc<dyn Store>, OpenError> + Send + Sync + 'static,
    ) -> Result<Self, OpenError> {
        let store = open()?;
        Ok(Replay { reopen: Some(Box::new(open)), ..Self::on(store) })
    }

    /// Against the store at an address, as for [`Host::open`]; a `restart` step opens it anew, unless it is in memory.
    /// What a run writes is gone when it is over, so no commit waits for the disk.
    ///
    /// # Errors
    ///
    /// [`OpenError`]: the address, or the store.
    pub fn at(address: &str) -> Result<Self, OpenError> {
        if address == "memory" {
            return Ok(Self::in_memory());
        }
        let given = address.to_owned();
        Self::opening(move || address::open_for(&given, Stay::Passing))
    }

    /// Through this component, in place of the embedded one.
    pub fn component(mut self, component: Component) -> Self {
        self.component = component;
        self
    }

    /// Takes the steps as a program that embeds a breaker does, through local admission, so that within `fresh_ms` a step
    /// may be answered from memory. For tests of that layer; a scenario speaks of the component.
    pub fn local_admission(mut self, on: bool) -> Self {
        self.local_admission = on;
        self
    }

    /// Through breakers of another make, in place of this crate's host; `make` is called at the beginning and at each
    /// `restart` step. [`component`](Replay::component) and [`local_admission`](Replay::local_admission) then say nothing.
    pub fn through(
        mut self,
        make: impl Fn(Ground) -> Result<Box<dyn Target>, OpenError> + Send + Sync + 'static,
    ) -> Self {
        self.target = Some(Box::new(make));
        self
    }

    /// Stops a run, with [`ReplayError::Stopped`], before its next step once this is true.
    pub fn stop_when(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Runs a scenario to its end.
    ///
    /// # Errors
    ///
    /// [`ReplayError`]; [`Malformed`](ReplayError::Malformed) when the component refuses the policy of the first line.
    pub fn run(&self, scenario: &Scenario) -> Result<Report, ReplayError> {
        self.run_inner(scenario, None)
    }

    /// Runs a scenario to its end, and shows every answer as it comes.
    ///
    /// # Errors
    ///
    /// As [`run`](Replay::run).
    pub fn run_showing(&self, scenario: &Scenario, mut show: impl FnMut(&Answer<'_>)) -> Result<Report, ReplayError> {
        self.run_inner(scenario, Some(&mut show))
    }

    fn run_inner<'s>(&self, scenario: &Scenario, show: Option<&'s mut Show<'s>>) -> Result<Report, ReplayError> {
        let namespace = OwnNamespace::new(Arc::clone(&self.store));
        let mut surroundings =
            Surroundings { replay: self, scenario, namespace, clock: Arc::new(ManualClock::new(0)), opened: 0 };
        let taker = surroundings.open(Arc::clone(&self.store))?;
        let failures = Run::new(&mut surroundings, taker, show).finish()?;
        surroundings.namespace.remove()?;
        Ok(Report { steps: scenario.steps.len(), failures })
    }

    pub(super) fn stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

impl std::fmt::Debug for Replay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Replay").field("component", &self.component).finish_non_exhaustive()
    }
}

/// What outlives the host in a run.
pub(super) struct Surroundings<'a> {
    pub(super) replay: &'a Replay,
    pub(super) scenario: &'a Scenario,
    pub(super) clock: Arc<ManualClock>,
    namespace: OwnNamespace,
    opened: u64,
}

impl Surroundings<'_> {
    /// Opens the host again, after it was closed.
    pub(super) fn reopen(&mut self) -> Result<Taker, ReplayError> {
        let store = match &self.replay.reopen {
            Some(open) => open()?,
            None => Arc::clone(&self.replay.store),
        };
        self.namespace.reach_by(Arc::clone(&store));
        self.open(store)
    }

    fn open(&mut self, store: Arc<dyn Store>) -> Result<Taker, ReplayError> {
        let store = Untimed(store);
        // A process that starts again draws other numbers.
        let seed = self.scenario.seed.wrapping_add(self.opened);
        self.opened += 1;
        let local_admission = self.replay.local_admission;
        let taker = match &self.replay.target {
            Some(make) => make(Ground {
                store: Arc::new(store),
                namespace: self.namespace.name().to_owned(),
                clock: self.clock.clone(),
                seed,
                default_policy: self.scenario.policy,
            })
            .map(Taker::Other),
            None => Host::builder()
                .component(self.replay.component.clone())
                .store(store)
                .clock(Arc::clone(&self.clock))
                .seed(seed)
                .namespace(self.namespace.name())
                .local_admission(local_admission)
                .default_policy(self.scenario.policy)
                .build()
                .map(|host| Taker::Host { host, local_admission }),
        };
        taker.map_err(|error| match error {
            OpenError::InvalidPolicy(faults) => {
                let why = BreakerError::InvalidPolicy(in_file_names(faults)).to_string();
                ReplayError::Malformed { line: 1, why }
            }
            other => ReplayError::Open(other),
        })
    }
}
