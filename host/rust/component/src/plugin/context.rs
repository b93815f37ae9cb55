//! The context of a platform's wasmtime store: what the component's imports and operations rest on.

use std::sync::Arc;

use halfopen_contract::cas::Records;
use halfopen_contract::documents::Policy;
use halfopen_contract::engine::{Evaluation, Operation, Request};
use halfopen_contract::entropy::Entropy;
use halfopen_contract::store::{Snapshot, Store};
use halfopen_contract::time::{Clock, SystemClock};

use crate::instance::{Imports, ImportsView, MAX_WRITE, WriteThrough};

/// When the commits of the component reach the store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Commits {
    /// When the operation of a handle has ended well. A call outside an operation is refused with `storage-error.denied`.
    /// The default.
    #[default]
    Held,
    /// At once, in calls outside the operations of a handle: those from a tenant's component that is composed with this one,
    /// and those through bindings of the platform's own. Operations of a handle are held as ever.
    ///
    /// Each `load` and each `commit` goes to the store, as a compare-and-set; where another caller was faster the component
    /// itself evaluates again, 16 times, and then answers `contended`. An answer rests on durable records, and a race is
    /// settled as safely as with a handle. Weaker than with a handle:
    ///
    /// - A commit stays also where the call that made it traps, or its caller never gets the answer. The component commits
    ///   once a call, as its last act, so this is as if the caller had crashed with the answer in hand: a lease that was
    ///   granted expires, an outcome that was reported counts.
    /// - A call may write any dependency of the namespace. The component only ever writes the one that it is called for; a
    ///   component that a tenant has supplied in its place need not. Give each tenant a namespace.
    /// - No answer is inspected, so that a store whose clocks may be apart ([`max_skew`](Store::max_skew)) is refused: leases
    ///   that are too short for it could not be.
    /// - The platform sets the default policy: it calls `setup.set-default-policy` where that is exported; otherwise
    ///   dependencies without a policy of their own have the built-in one.
    ///
    /// Of a store's error the component learns the kind alone, as a tenant may see it; the rest is traced.
    WriteThrough,
}

/// Why no context could be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ContextError {
    /// The store's clocks may be apart, and leases that are too short for that could not be refused.
    #[error(
        "commits are written through, and the clocks of the store may be {skew_ms} ms apart: leases that are too short for \
         that could not be refused; hold the commits, or give a store with one clock"
    )]
    SkewedClocks {
        /// How far apart, in ms.
        skew_ms: u128,
    },
}

/// The records of a namespace, a clock and randomness. It is part of the data of a platform's wasmtime store; see
/// [`PluginView`].
pub struct PluginCtx {
    imports: Imports,
    shared: Arc<Shared>,
}

/// The part of a context that the operations of all its wasmtime stores share.
pub(super) struct Shared {
    store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<Entropy>,
    pub namespace: Arc<str>,
    history: usize,
    /// JSON.
    pub default_policy: String,
}

impl Shared {
    pub fn records(&self) -> Records<'_> {
        Records { store: &*self.store, namespace: &self.namespace, history: self.history }
    }

    /// The request that shows the policy which an operation is about to configure, and the record for it; none where no
    /// policy is to be checked against the store's clocks.
    pub fn policy_check(&self, request: &Request, evaluation: &Evaluation) -> Option<(Request, Snapshot)> {
        let (Operation::Configure { policy: Some(_), .. }, Some(write)) = (&request.operation, &evaluation.write)
        else {
            return None;
        };
        self.store.max_skew()?;
        let request = Request { dependency: request.dependency.clone(), operation: Operation::Policy };
        Some((request, Snapshot { data: write.data.clone(), ..Snapshot::default() }))
    }
}

/// The data of a platform's wasmtime store, as the component's imports see it.
pub trait PluginView: Send + 'static {
    /// The context of the wasmtime store.
    fn plugin(&mut self) -> &mut PluginCtx;
}

impl<T: PluginView> ImportsView for T {
    fn imports(&mut self) -> &mut Imports {
        &mut self.plugin().imports
    }
}

impl PluginCtx {
    /// A builder of contexts on the records of a store.
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
        &self.shared.namespace
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl std::fmt::Debug for PluginCtx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginCtx").field("namespace", &self.shared.namespace).finish_non_exhaustive()
    }
}

/// Makes a [`PluginCtx`] for each wasmtime store of a platform. Its contexts share the records, the clock and the randomness.
#[derive(Clone)]
#[must_use]
pub struct PluginCtxBuilder {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    entropy: Arc<Entropy>,
    namespace: Arc<str>,
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

    /// The randomness of jitter and ramps: a function that returns numbers uniform over all of `u64`. It protects no secret.
    /// Default a generator that is seeded at random.
    pub fn entropy(mut self, next: impl FnMut() -> u64 + Send + 'static) -> Self {
        self.entropy = Arc::new(Entropy::from_fn(next));
        self
    }

    /// Makes that randomness repeatable.
    pub fn seed(mut self, seed: u64) -> Self {
        self.entropy = Arc::new(Entropy::new(Some(seed)));
        self
    }

    /// The namespace. Contexts of different namespaces share a store and see nothing of each other. Default `default`.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// The policy of dependencies without one of their own. It is checked when an instance is made.
    pub fn default_policy(mut self, policy: Policy) -> Self {
        self.default_policy = policy;
        self
    }

    /// The number of transitions of a dependency to keep, at most. Default 1,000.
    pub fn history(mut self, transitions: usize) -> Self {
        self.history = transitions;
        self
    }

    /// When the commits of the component reach the store. Default [`Commits::Held`].
    pub fn commits(mut self, commits: Commits) -> Self {
        self.commits = commits;
        self
    }

    /// Makes a context for one wasmtime store.
    ///
    /// # Errors
    /// [`ContextError`]: the choices do not suit the store of the records.
    pub fn build(&self) -> Result<PluginCtx, ContextError> {
        let imports = Imports::new(self.clock.clone(), self.entropy.clone(), MAX_WRITE);
        let imports = match (self.commits, self.store.max_skew()) {
            (Commits::Held, _) => imports,
            (Commits::WriteThrough, Some(skew)) => {
                return Err(ContextError::SkewedClocks { skew_ms: skew.as_millis() });
            }
            (Commits::WriteThrough, None) => imports.write_through(Arc::new(WriteThrough {
                store: self.store.clone(),
                namespace: self.namespace.clone(),
                history: self.history,
            })),
        };
        let shared = Shared {
            store: self.store.clone(),
            clock: self.clock.clone(),
            entropy: self.entropy.clone(),
            namespace: self.namespace.clone(),
            history: self.history,
            default_policy: self.default_policy.to_string(),
        };
        Ok(PluginCtx { imports, shared: Arc::new(shared) })
    }
}

impl std::fmt::Debug for PluginCtxBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("PluginCtxBuilder");
        shown.field("namespace", &self.namespace).field("commits", &self.commits).finish_non_exhaustive()
    }
}
