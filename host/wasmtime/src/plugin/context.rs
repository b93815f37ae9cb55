//! What the component's imports stand on, in the data of a platform's store.

use std::sync::Arc;

use crate::batch::Records;
use crate::builder::Limits;
use crate::clock::{Clock, SystemClock};
use crate::direct::Direct;
use crate::entropy::Entropy;
use crate::imports::Imports;
use crate::least_lease::LeastLease;
use crate::store::Store;
use crate::wire::{Policy, PolicyFault};

/// When what the component commits reaches the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Commits {
    /// When the operation of a handle that it runs for has ended well. A call that no handle makes is refused with
    /// `storage-error.denied`. The default.
    #[default]
    Held,
    /// At once, in calls that no handle makes: those from a tenant's component that is composed with this one, and those
    /// through bindings of the platform's own. Operations of a handle are held as ever.
    ///
    /// Each `load` and each `commit` goes to the store, as a compare-and-set; where another was faster the component itself
    /// decides again, 16 times, and then answers `contended`. An answer rests on what is durable, and a race is decided
    /// as safely as with a handle. What is weaker:
    ///
    /// - A commit stays also where the call that made it traps, or its caller never sees the answer. The component commits
    ///   once a call, as the last thing it does, so this is as if the caller had crashed with the answer in hand: a
    ///   lease that was granted runs out, an outcome that was reported counts.
    /// - A call may speak of any dependency of the namespace. The component only ever touches the one it is called for; a
    ///   component that a tenant has supplied in its place need not. Give each tenant a namespace.
    /// - Nothing of an answer is looked into, so that a store whose clocks may be apart
    ///   ([`max_skew`](crate::Store::max_skew)) is refused: leases that are too short for it could not be.
    /// - Nobody sets the default policy: whoever makes the instance calls `setup.set-default-policy` where it is exported;
    ///   otherwise dependencies without a policy of their own go by the built-in one.
    ///
    /// Of a store's error the component learns the kind only, as a tenant may see it; the rest is traced.
    AtOnce,
}

/// Why no context could be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// The default policy does not suit the store: all fields that do not.
    #[error("the default policy is invalid: {}", crate::error::listed(.0))]
    InvalidPolicy(Vec<PolicyFault>),
    /// The store's clocks may be apart, and nobody would refuse leases that are too short for that.
    #[error(
        "commits go to the store at once, and its clocks may be {skew_ms} ms apart: leases that are too short for that \
         could not be refused; hold the commits, or give a store with one clock"
    )]
    SkewedClocks {
        /// How far apart, in ms.
        skew_ms: u128,
    },
}

/// What the component's imports stand on: the records of a namespace, a clock, randomness. It is part of the data of a
/// platform's store; see [`PluginView`](super::PluginView).
pub struct PluginCtx {
    imports: Imports,
    place: Arc<Place>,
}

/// Where the operations of a handle go.
pub(super) struct Place {
    store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub namespace: Box<str>,
    history: usize,
    pub default_policy: Policy,
}

impl Place {
    pub fn records(&self) -> Records<'_> {
        Records { store: &*self.store, namespace: &self.namespace, history: self.history }
    }
}

impl PluginCtx {
    /// A context on the records of a store, with more to choose.
    pub fn builder(store: Arc<dyn Store>) -> PluginCtxBuilder {
        PluginCtxBuilder {
            store,
            clock: Arc::new(SystemClock),
            entropy: Arc::new(Entropy::new(None)),
            namespace: "default".into(),
            default_policy: Policy::default(),
            history: 1_000,
            commits: Commits::default(),
        }
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.place.namespace
    }

    pub(super) fn imports(&mut self) -> &mut Imports {
        &mut self.imports
    }

    pub(super) fn place(&self) -> &Arc<Place> {
        &self.place
    }
}

impl std::fmt::Debug for PluginCtx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginCtx").field("namespace", &self.place.namespace).finish_non_exhaustive()
    }
}

/// Makes a [`PluginCtx`] for each store of a platform. All that it makes share the records, the clock and the randomness.
#[derive(Clone)]
#[must_use]
pub struct PluginCtxBuilder {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<Entropy>,
    namespace: Box<str>,
    default_policy: Policy,
    history: usize,
    commits: Commits,
}

impl PluginCtxBuilder {
    /// The clock, for a store that has none of its own. All hosts of one record must read one clock. Default
    /// [`SystemClock`].
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// The randomness of jitter and ramps: a number uniform over all of `u64` each time. It protects no secret. Default a
    /// generator that is seeded at random.
    pub fn entropy(mut self, next: impl FnMut() -> u64 + Send + 'static) -> Self {
        self.entropy = Arc::new(Entropy::of(next));
        self
    }

    /// Makes that randomness repeatable.
    pub fn seed(mut self, seed: u64) -> Self {
        self.entropy = Arc::new(Entropy::new(Some(seed)));
        self
    }

    /// The namespace. Those of different namespaces share a store and see nothing of each other. Default `default`.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// What dependencies without a policy of their own go by. It is checked when an instance is made.
    pub fn default_policy(mut self, policy: Policy) -> Self {
        self.default_policy = policy;
        self
    }

    /// How many transitions of a dependency to keep. Default 1,000.
    pub fn history(mut self, transitions: usize) -> Self {
        self.history = transitions;
        self
    }

    /// When what the component commits reaches the store. Default [`Commits::Held`].
    pub fn commits(mut self, commits: Commits) -> Self {
        self.commits = commits;
        self
    }

    /// Makes a context for one store.
    ///
    /// # Errors
    /// [`ContextError`]: what is chosen does not suit the store of the records.
    pub fn build(&self) -> Result<PluginCtx, ContextError> {
        if let Some(fault) = LeastLease::on(&*self.store).fault(&self.default_policy) {
            return Err(ContextError::InvalidPolicy(vec![fault]));
        }
        let direct = match (self.commits, self.store.max_skew()) {
            (Commits::Held, _) => None,
            (Commits::AtOnce, Some(skew)) => return Err(ContextError::SkewedClocks { skew_ms: skew.as_millis() }),
            (Commits::AtOnce, None) => Some(Arc::new(Direct {
                store: self.store.clone(),
                namespace: self.namespace.clone(),
                history: self.history,
            })),
        };
        let most = Limits::default().memory;
        Ok(PluginCtx {
            imports: Imports::new(self.clock.clone(), self.entropy.clone(), most, direct),
            place: Arc::new(Place {
                store: self.store.clone(),
                clock: self.clock.clone(),
                namespace: self.namespace.clone(),
                history: self.history,
                default_policy: self.default_policy,
            }),
        })
    }
}

impl std::fmt::Debug for PluginCtxBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("PluginCtxBuilder");
        shown.field("namespace", &self.namespace).field("commits", &self.commits).finish_non_exhaustive()
    }
}
