use std::sync::Arc;

use halfopen_contract::cas::Records;
use halfopen_contract::documents::Policy;
use halfopen_contract::engine::Engine;
use halfopen_contract::store::{Store, StoreError};
use halfopen_contract::time::Clock;

use crate::breaker::Breaker;
use crate::commit::Executor;
use crate::inner::{Inner, InnerHandle};
use crate::local_admission::LocalAdmission;
use crate::outage::StoreBackoff;
use crate::transitions::Transitions;

/// Runs the breakers of a namespace: an engine, with a store and a clock.
///
/// Clones share one host. It may be used from any number of threads, and from async code. The last handle that goes, of the
/// host or of its breakers, reports what is still to be reported.
#[derive(Clone)]
pub struct Host {
    pub(super) inner: InnerHandle,
}

impl Host {
    /// A host for another namespace, with the same store, clock, engine and policy. It costs little. From `capacity`
    /// dependencies on it removes from memory those that are not in use.
    pub fn in_namespace(&self, namespace: &str, capacity: usize) -> Host {
        let Inner { runner, local, settings, clock, .. } = &*self.inner;
        let records = Records { namespace: namespace.into(), ..runner.executor.records.clone() };
        let executor = Executor { records, ..runner.executor.clone() };
        let local = local.is_some().then(|| LocalAdmission::new(None, capacity));
        let inner = Inner::new(executor, StoreBackoff::new(clock.runs()), local, settings.clone());
        Host { inner: InnerHandle::new(inner) }
    }

    /// The breaker of a dependency. This reads nothing; the name is judged at each operation.
    pub fn breaker(&self, dependency: impl Into<String>) -> Breaker {
        Breaker::new(self.inner.clone(), dependency.into())
    }

    /// The dependencies that have a record in this namespace, sorted by their bytes.
    pub fn list(&self) -> Result<Vec<String>, StoreError> {
        self.inner.runner.executor.records.store.list(self.namespace())
    }

    /// The transitions from now on, of all dependencies of the namespace, with those that other processes bring about.
    pub fn transitions(&self) -> Transitions {
        let Records { store, namespace, .. } = self.inner.runner.executor.records.clone();
        Transitions::from_now(store, namespace)
    }

    /// Removes all records of the namespace, with their history. Permits that are out stay stale.
    pub fn remove_namespace(&self) -> Result<(), StoreError> {
        let removed = self.inner.runner.executor.records.store.remove_namespace(self.namespace());
        // What was counted goes with the records.
        for local in self.inner.local.iter().flat_map(|admission| admission.all()) {
            local.end();
        }
        removed
    }

    /// The error of the store at the last acquire; none since it has answered again. The answer of acquires meanwhile is the
    /// host's [`OnStoreError`](crate::OnStoreError).
    pub fn store_error(&self) -> Option<StoreError> {
        self.inner.runner.store_backoff.error()
    }

    /// The namespace.
    pub fn namespace(&self) -> &str {
        self.inner.namespace()
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.inner.runner.executor.records.store
    }

    /// The engine.
    pub fn engine(&self) -> &Arc<dyn Engine> {
        &self.inner.runner.executor.engine
    }

    /// The clock.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.inner.clock
    }

    /// The policy of dependencies without one of their own, with all its keys.
    pub fn default_policy(&self) -> Policy {
        self.engine().default_policy().parse().unwrap_or_default()
    }
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("namespace", &self.namespace()).finish_non_exhaustive()
    }
}
