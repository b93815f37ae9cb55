use std::any::TypeId;
use std::sync::Arc;

#[cfg(feature = "component")]
use halfopen_component::{Component, ComponentEngine, Limits};
use halfopen_contract::cas::Records;
use halfopen_contract::documents::Policy;
use halfopen_contract::engine::Engine;
use halfopen_contract::entropy::Entropy;
use halfopen_contract::store::{self, Store};
use halfopen_contract::time::{Clock, SystemClock};

use super::handle::Host;
use crate::commit::Executor;
use crate::error::OpenError;
use crate::inner::{Inner, InnerHandle, Settings};
use crate::local_admission::LocalAdmission;
use crate::outage::{OnStoreError, StoreBackoff};
use crate::store::{LazyStore, open};

/// The number of dependencies from which on those out of use are removed from memory.
const CAPACITY: usize = 4_096;

/// Makes a [`Host`].
#[must_use]
pub struct HostBuilder {
    place: Place,
    /// None for one of those that are built in.
    engine: Option<Arc<dyn Engine>>,
    #[cfg(feature = "component")]
    component: Option<Component>,
    #[cfg(feature = "component")]
    limits: Limits,
    clock: Arc<dyn Clock>,
    machine_clock: bool,
    seed: Option<u64>,
    entropy: Option<Arc<Entropy>>,
    namespace: String,
    default_policy: Policy,
    history: usize,
    caller: Option<String>,
    operator: String,
    on_store_error: OnStoreError,
    local_admission: bool,
}

enum Place {
    Address(String),
    Store(Arc<dyn Store>),
}

impl Default for HostBuilder {
    fn default() -> Self {
        HostBuilder {
            place: Place::Address("memory".to_owned()),
            engine: None,
            #[cfg(feature = "component")]
            component: Some(Component::embedded()),
            #[cfg(feature = "component")]
            limits: Limits::default(),
            clock: Arc::new(SystemClock),
            machine_clock: true,
            seed: None,
            entropy: None,
            namespace: "default".to_owned(),
            default_policy: Policy::default(),
            history: 1_000,
            caller: None,
            operator: String::new(),
            on_store_error: OnStoreError::default(),
            local_admission: true,
        }
    }
}

impl Host {
    /// Opens a host on the store at an address: `sqlite:PATH`, a bare path (the same),
    /// `postgres://USER:PASSWORD@HOST:PORT/DATABASE` (feature `postgres`), `etcd://HOST:PORT,HOST:PORT/PREFIX` (feature
    /// `etcd`), or `memory` (a store of this host alone, gone with it).
    ///
    /// # Errors
    /// [`OpenError`]: the address, the store, or the engine.
    pub fn open(address: &str) -> Result<Host, OpenError> {
        Host::builder().address(address).build()
    }

    /// A builder, for a host with more to choose.
    pub fn builder() -> HostBuilder {
        HostBuilder::default()
    }
}

impl HostBuilder {
    /// Sets the store's address, as for [`Host::open`]. Default `memory`.
    pub fn address(mut self, address: &str) -> Self {
        self.place = Place::Address(address.to_owned());
        self
    }

    /// Sets a store of your own.
    pub fn store(self, store: impl Store) -> Self {
        self.shared_store(Arc::new(store))
    }

    /// Sets a store that other hosts use as well.
    pub fn shared_store(mut self, store: Arc<dyn Store>) -> Self {
        self.place = Place::Store(store);
        self
    }

    /// Sets the component that decides. Default [`Component::embedded`].
    #[cfg(feature = "component")]
    pub fn component(mut self, component: Component) -> Self {
        (self.component, self.engine) = (Some(component), None);
        self
    }

    /// Sets the limits of the component.
    #[cfg(feature = "component")]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Lets the rules that are linked in decide, instead of the component.
    #[cfg(feature = "native")]
    pub fn native(mut self) -> Self {
        #[cfg(feature = "component")]
        self.component.take();
        self.engine = None;
        self
    }

    /// Sets an engine. It has a default policy already: that of the builder is not used.
    pub fn engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Sets the clock. Default [`SystemClock`].
    pub fn clock<C: Clock>(mut self, clock: C) -> Self {
        self.clock = Arc::new(clock);
        self.machine_clock = TypeId::of::<C>() == TypeId::of::<SystemClock>();
        self
    }

    /// Makes the randomness of jitter and ramps repeatable.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the randomness of jitter, in place of a seeded one.
    pub fn entropy(mut self, entropy: Arc<Entropy>) -> Self {
        self.entropy = Some(entropy);
        self
    }

    /// Sets the namespace. Hosts of different namespaces share a store and see nothing of each other. Default `default`.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = namespace.to_owned();
        self
    }

    /// Sets the policy of dependencies without one of their own. It is checked when the host is built.
    pub fn default_policy(mut self, policy: Policy) -> Self {
        self.default_policy = policy;
        self
    }

    /// Sets the number of transitions of a dependency to keep. Default 1,000.
    pub fn history(mut self, transitions: usize) -> Self {
        self.history = transitions;
        self
    }

    /// Sets the caller of the host's breakers, as [`Breaker::caller`](crate::Breaker::caller) says. Default `pid N`.
    pub fn caller(mut self, caller: &str) -> Self {
        self.caller = Some(caller.to_owned());
        self
    }

    /// Sets the operator of the host's breakers, as [`Breaker::operator`](crate::Breaker::operator) says. Default empty.
    pub fn operator(mut self, by: &str) -> Self {
        self.operator = by.to_owned();
        self
    }

    /// Sets the answer of `acquire` while the store fails. Default [`OnStoreError::FailClosed`]. With another choice, a store
    /// that does not open is no error when the host is built: it is opened as soon as it can be.
    pub fn on_store_error(mut self, choice: OnStoreError) -> Self {
        self.on_store_error = choice;
        self
    }

    /// Sets whether calls are admitted and refused from memory for the time that the engine gives (the policy's `fresh_ms`), and
    /// successes are flushed later. Default true. Without it every call reads the store, and every outcome is written at once:
    /// the same as `fresh_ms = 0`.
    pub fn local_admission(mut self, on: bool) -> Self {
        self.local_admission = on;
        self
    }

    /// Makes the engine, and opens the store.
    ///
    /// # Errors
    /// [`OpenError`]: the engine, the default policy, the address, or the store (see
    /// [`on_store_error`](HostBuilder::on_store_error)).
    pub fn build(self) -> Result<Host, OpenError> {
        let engine = self.make_engine()?;
        let runs = self.clock.runs();
        let store_backoff = StoreBackoff::new(runs);
        let store = match self.place {
            Place::Store(store) => store,
            Place::Address(address) => match open(&address) {
                Err(store::OpenError::Store(error)) if self.on_store_error != OnStoreError::FailClosed => {
                    tracing::warn!(%error, "the store does not open; it is opened as soon as it can be");
                    store_backoff.failed(&error);
                    Arc::new(LazyStore::at(address))
                }
                opened => opened?,
            },
        };
        let records = Records { store, namespace: self.namespace.into(), history: self.history };
        if let Some(fault) = records.default_policy_fault(engine.default_policy()) {
            return Err(OpenError::InvalidPolicy(vec![fault]));
        }
        let local = self.local_admission.then(|| LocalAdmission::new(self.seed, CAPACITY));
        let executor = Executor {
            records,
            engine,
            clock: self.clock,
            entropy: self.entropy.unwrap_or_else(|| Arc::new(Entropy::new(self.seed))),
        };
        let settings = Settings {
            on_store_error: self.on_store_error,
            machine_clock: self.machine_clock,
            caller: self.caller.unwrap_or_else(|| format!("pid {}", std::process::id())).into(),
            operator: self.operator.into(),
        };
        Ok(Host { inner: InnerHandle::new(Inner::new(executor, store_backoff, local, settings)) })
    }

    fn make_engine(&self) -> Result<Arc<dyn Engine>, OpenError> {
        if let Some(engine) = &self.engine {
            return Ok(engine.clone());
        }
        #[cfg(feature = "component")]
        if let Some(component) = &self.component {
            return Ok(Arc::new(ComponentEngine::new(component, self.limits, &self.default_policy)?));
        }
        #[cfg(feature = "native")]
        return Ok(Arc::new(halfopen_native::NativeEngine::new(&self.default_policy)?));
        #[cfg(not(feature = "native"))]
        Err(OpenError::Engine(halfopen_contract::EngineError::Broken {
            why: "this build has no engine: turn on feature `component` or `native`, or give one".to_owned(),
        }))
    }
}
