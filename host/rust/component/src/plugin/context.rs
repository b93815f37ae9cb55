//! The context of a platform's wasmtime store: what the component's imports and operations rest on.

use std::sync::Arc;

use halfopen_contract::cas::Records;
use halfopen_contract::documents::Policy;
use halfopen_contract::entropy::Entropy;
use halfopen_contract::store::Store;
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
    pub(super) shared: Arc<Shared>,
}

/// The part of a context that the operations of all its wasmtime stores share.
#[derive(Clone)]
pub(super) struct Shared {
    pub records: Records,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<Entropy>,
    /// JSON.
    pub default_policy: String,
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
        let shared = Shared {
            records: Records { store, namespace: "default".into(), history: 1_000 },
            clock: Arc::new(SystemClock),
            entropy: Arc::new(Entropy::new(None)),
            default_policy: Policy::default().to_string(),
        };
        PluginCtxBuilder { shared, commits: Commits::default() }
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        &self.shared.records.namespace
    }
}

impl std::fmt::Debug for PluginCtx {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginCtx").field("namespace", &self.shared.records.namespace).finish_non_exhaustive()
    }
}

/// Makes a [`PluginCtx`] for each wasmtime store of a platform. Its contexts share the records, the clock and the randomness.
#[derive(Clone)]
#[must_use]
pub struct PluginCtxBuilder {
    shared: Shared,
    commits: Commits,
}

impl PluginCtxBuilder {
    /// The clock, for a store that has none of its own. All hosts of one record must read one clock. Default
    /// [`SystemClock`].
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.shared.clock = Arc::new(clock);
        self
    }

    /// Makes the randomness of jitter and ramps repeatable. Default a seed at random.
    pub fn seed(mut self, seed: u64) -> Self {
        self.shared.entropy = Arc::new(Entropy::new(Some(seed)));
        self
    }

    /// The namespace. Contexts of different namespaces share a store and see nothing of each other. Default `default`.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.shared.records.namespace = namespace.into();
        self
    }

    /// The policy of dependencies without one of their own. It is checked when an instance is made.
    pub fn default_policy(mut self, policy: Policy) -> Self {
        self.shared.default_policy = policy.to_string();
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
        let shared = self.shared.clone();
        let write_through = match (self.commits, shared.records.store.max_skew()) {
            (Commits::Held, _) => None,
            (Commits::WriteThrough, Some(skew)) => {
                return Err(ContextError::SkewedClocks { skew_ms: skew.as_millis() });
            }
            (Commits::WriteThrough, None) => Some(WriteThrough(shared.records.clone())),
        };
        let imports = Imports::new(shared.clock.clone(), shared.entropy.clone(), MAX_WRITE, write_through);
        Ok(PluginCtx { imports, shared: Arc::new(shared) })
    }
}

impl std::fmt::Debug for PluginCtxBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("PluginCtxBuilder");
        shown.field("namespace", &self.shared.records.namespace).field("commits", &self.commits).finish_non_exhaustive()
    }
}
