//! How a host is made.

use std::any::TypeId;
use std::sync::Arc;
use std::time::Duration;

use crate::address;
use crate::clock::{Clock, SystemClock};
use crate::component::Component;
use crate::engine;
use crate::entropy::Entropy;
use crate::error::OpenError;
use crate::group::Group;
use crate::host::{Host, Inner};
use crate::instance::{Blueprint, MakeError};
use crate::last_known::LastKnown;
use crate::least_lease::LeastLease;
use crate::local::{LocalAdmission, MANY};
use crate::pool::Pool;
use crate::store::Store;
use crate::wire::Policy;

/// What bounds the component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long one exported call may run, at least 1 ms. It takes microseconds; the default is 2 seconds, so that a
    /// machine under load does not cut it off. Rounded up to the tick of 10 ms.
    pub call: Duration,
    /// How many bytes of memory an instance may have. Default 16 MiB.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { call: Duration::from_secs(2), memory: 16 << 20 }
    }
}

/// What `acquire` does while the store fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnStoreError {
    /// It answers the error, and `call` makes no call. The default.
    #[default]
    FailClosed,
    /// It admits. Nothing of such a call is recorded: see [`PermitGuard::unrecorded`](crate::PermitGuard::unrecorded).
    FailOpen,
    /// It does as this host was last told for this dependency: admits, unrecorded, where the last answer was to proceed;
    /// defers for what is left of the last deferral. Where neither is known it answers the error. It never probes.
    LastKnown,
}

/// Makes a [`Host`].
#[must_use]
pub struct HostBuilder {
    pub(crate) place: Place,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) machine_clock: bool,
    pub(crate) seed: Option<u64>,
    pub(crate) component: Option<Component>,
    pub(crate) limits: Limits,
    pub(crate) namespace: String,
    pub(crate) default_policy: Policy,
    pub(crate) history: usize,
    pub(crate) caller: Option<String>,
    pub(crate) on_store_error: OnStoreError,
    pub(crate) local_admission: bool,
}

pub(crate) enum Place {
    Address(String),
    Store(Arc<dyn Store>),
}

impl Default for HostBuilder {
    fn default() -> Self {
        HostBuilder {
            place: Place::Address("memory".to_owned()),
            clock: Arc::new(SystemClock),
            machine_clock: true,
            seed: None,
            component: None,
            limits: Limits::default(),
            namespace: "default".to_owned(),
            default_policy: Policy::default(),
            history: 1_000,
            caller: None,
            on_store_error: OnStoreError::default(),
            local_admission: true,
        }
    }
}

impl HostBuilder {
    /// The store's address, as for [`Host::open`]. Default `memory`.
    pub fn address(mut self, address: &str) -> Self {
        self.place = Place::Address(address.to_owned());
        self
    }

    /// A store of your own.
    pub fn store(self, store: impl Store) -> Self {
        self.shared_store(Arc::new(store))
    }

    /// A store that others use as well.
    pub fn shared_store(mut self, store: Arc<dyn Store>) -> Self {
        self.place = Place::Store(store);
        self
    }

    /// The clock. Default [`SystemClock`].
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

    /// The component. Default [`Component::embedded`].
    pub fn component(mut self, component: Component) -> Self {
        self.component = Some(component);
        self
    }

    /// What bounds the component.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The namespace. Hosts of different namespaces share a store and see nothing of each other. Default `default`.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = namespace.to_owned();
        self
    }

    /// What dependencies without a policy of their own go by. It is checked when the host is built.
    pub fn default_policy(mut self, policy: Policy) -> Self {
        self.default_policy = policy;
        self
    }

    /// How many transitions of a dependency to keep. Default 1,000.
    pub fn history(mut self, transitions: usize) -> Self {
        self.history = transitions;
        self
    }

    /// Who holds the leases that this host takes, as `inspect` shows it; up to 64 bytes. Default `pid N`.
    pub fn caller(mut self, caller: &str) -> Self {
        self.caller = Some(caller.to_owned());
        self
    }

    /// What `acquire` does while the store fails. Default [`OnStoreError::FailClosed`].
    pub fn on_store_error(mut self, choice: OnStoreError) -> Self {
        self.on_store_error = choice;
        self
    }

    /// Whether calls are admitted and refused from memory for as long as the component says (the policy's `fresh_ms`), and
    /// successes handed over later. Default true. Without it every call asks the store, and every outcome is written at
    /// once: the same as `fresh_ms = 0`.
    pub fn local_admission(mut self, on: bool) -> Self {
        self.local_admission = on;
        self
    }

    /// Opens the store, compiles the component unless it was before, and makes its first instance.
    ///
    /// # Errors
    /// [`OpenError`]: the address, the store, the component, or the default policy.
    pub fn build(self) -> Result<Host, OpenError> {
        let component = self.component.unwrap_or_else(Component::embedded);
        let blueprint = Blueprint {
            pre: component.ready()?,
            runtime: engine::runtime()?,
            limits: self.limits,
            clock: self.clock.clone(),
            entropy: Arc::new(Entropy::new(self.seed)),
            default_policy: self.default_policy,
        };
        let pool = Pool::new(blueprint).map_err(|error| match error {
            MakeError::InvalidPolicy(faults) => OpenError::InvalidPolicy(faults),
            MakeError::Fault(fault) => OpenError::Setup(fault),
        })?;
        let store = match self.place {
            Place::Address(address) => address::open(&address)?,
            Place::Store(store) => store,
        };
        let least_lease = LeastLease::on(&*store);
        if let Some(fault) = least_lease.fault(&self.default_policy) {
            return Err(OpenError::InvalidPolicy(vec![fault]));
        }
        let caller = self.caller.unwrap_or_else(|| format!("pid {}", std::process::id()));
        let local = self.local_admission.then(|| LocalAdmission::new(&*self.clock, self.seed, MANY));
        Ok(Host::new(Inner {
            store,
            clock: self.clock,
            machine_clock: self.machine_clock,
            pool: Arc::new(pool),
            group: Group::default(),
            last_known: LastKnown::default(),
            local,
            component,
            namespace: self.namespace.into(),
            default_policy: self.default_policy,
            history: self.history,
            least_lease,
            caller: caller.into(),
            on_store_error: self.on_store_error,
        }))
    }
}
