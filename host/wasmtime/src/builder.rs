//! How a host is made.

use std::any::TypeId;
use std::path::PathBuf;
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
use crate::last_known::{Files, LastKnown};
use crate::least_lease::LeastLease;
use crate::local::{LocalAdmission, MANY};
use crate::outage::Outage;
use crate::pool::Pool;
use crate::store::{Late, Store};
use crate::undelivered::Undelivered;
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
///
/// Of acquires that the store fails one tries again now and then: at first after 50 ms, and once a second at the end. The
/// others are answered at once, and the first that succeeds ends this: [`Host::store_error`] tells whether it goes on.
/// Everything else that is asked of the store is asked each time, and its error comes back; but reports are kept and
/// repeated, as [`Recorded::Later`](crate::Recorded::Later) says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OnStoreError {
    /// It answers the error, and `call` makes no call. The default.
    #[default]
    FailClosed,
    /// It admits. Nothing of such a call is recorded: see [`PermitGuard::unrecorded`](crate::PermitGuard::unrecorded).
    FailOpen,
    /// It does as this host was last told for this dependency: admits, unrecorded, where the last answer was to proceed;
    /// defers for what is left of the last deferral. Where neither is known, as also after a probe, it answers the error.
    /// It never probes. With [`last_known_in`](HostBuilder::last_known_in), it also knows what earlier processes were told.
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
    pub(crate) last_known_in: Option<PathBuf>,
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
            last_known_in: None,
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

    /// What `acquire` does while the store fails. Default [`OnStoreError::FailClosed`]. With another choice, a store that
    /// does not open is no error when the host is built: it is opened as soon as it can be.
    pub fn on_store_error(mut self, choice: OnStoreError) -> Self {
        self.on_store_error = choice;
        self
    }

    /// Where [`OnStoreError::LastKnown`] keeps what it was told, for the processes that come after this one; without it,
    /// or with another choice, nothing is written. Each dependency has a small file there, found by the address of the
    /// store (without its password), the namespace and the dependency; of more than 10,000 the oldest go. With a store of
    /// your own, give each store a folder of its own.
    ///
    /// The folder is made where it is missing. It must be this user's and closed to everybody else; otherwise, and where a
    /// file is damaged, nothing is known from before: see [`Host::last_known_fault`]. On systems other than Unix, nothing is kept.
    pub fn last_known_in(mut self, folder: impl Into<PathBuf>) -> Self {
        self.last_known_in = Some(folder.into());
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
    /// [`OpenError`]: the address, the store (see [`on_store_error`](HostBuilder::on_store_error)), the component, or the
    /// default policy.
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
        let runs = self.clock.runs();
        let outage = Outage::new(runs);
        let place = if let Place::Address(address) = &self.place { address::identity(address) } else { String::new() };
        let store = match self.place {
            Place::Store(store) => store,
            Place::Address(address) => match address::open(&address) {
                Err(OpenError::Store(error)) if self.on_store_error != OnStoreError::FailClosed => {
                    tracing::warn!(%error, "the store does not open; it is opened as soon as it can be");
                    outage.failed(&error);
                    Arc::new(Late::at(address))
                }
                opened => opened?,
            },
        };
        if let Some(fault) = LeastLease::on(&*store).fault(&self.default_policy) {
            return Err(OpenError::InvalidPolicy(vec![fault]));
        }
        let caller = self.caller.unwrap_or_else(|| format!("pid {}", std::process::id()));
        let local = self.local_admission.then(|| LocalAdmission::new(&*self.clock, self.seed, MANY));
        let files = self.last_known_in.filter(|_| self.on_store_error == OnStoreError::LastKnown);
        let files = files.map(|folder| Files::of(folder, &place, &self.namespace));
        Ok(Host::new(Inner {
            store,
            clock: self.clock,
            machine_clock: self.machine_clock,
            pool: Arc::new(pool),
            group: Group::default(),
            outage,
            undelivered: Undelivered::new(runs),
            last_known: LastKnown::in_files(files),
            local,
            component,
            namespace: self.namespace.into(),
            default_policy: self.default_policy,
            history: self.history,
            caller: caller.into(),
            on_store_error: self.on_store_error,
        }))
    }
}
