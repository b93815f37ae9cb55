use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use halfopen_contract::BreakerError;
use halfopen_contract::store::StoreError;

use super::handle::Host;

/// The number of threads that prune: the removals of several share a commit.
const THREADS: usize = 16;

/// The result of [`Host::prune`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pruned {
    /// The number of records that were removed.
    pub removed: u64,
    /// The number of records that are still needed.
    pub kept: u64,
    /// The dependencies whose record could not be evaluated, sorted, and why. After a store's error the rest is left
    /// alone and counted nowhere.
    pub failed: Vec<(String, BreakerError)>,
}

impl Host {
    /// Removes the records of the namespace that are no longer needed: see [`Breaker::prune`](crate::Breaker::prune).
    ///
    /// # Errors
    /// Those of the store's list; an error of a single record is in the result.
    pub fn prune(&self, idle: Duration) -> Result<Pruned, StoreError> {
        self.prune_these(&self.list()?, idle, |_| ())
    }

    /// Removes those of the given records that are no longer needed, as [`prune`](Host::prune) does. `examined` gets the
    /// number of records so far, from any of several threads.
    ///
    /// # Errors
    /// Those of the store's compaction; an error of a single record is in the result.
    pub fn prune_these(
        &self,
        dependencies: &[String],
        idle: Duration,
        examined: impl Fn(u64) + Sync,
    ) -> Result<Pruned, StoreError> {
        let next = AtomicUsize::new(0);
        let pruned = Mutex::new(Pruned::default());
        let work = || {
            while let Some(dependency) = dependencies.get(next.fetch_add(1, Ordering::Relaxed)) {
                let result = self.breaker(dependency.as_str()).prune(idle);
                let Ok(mut pruned) = pruned.lock() else { return };
                match result {
                    Ok(true) => pruned.removed += 1,
                    Ok(false) => pruned.kept += 1,
                    Err(error) => {
                        if let BreakerError::Store(StoreError::Unavailable { .. } | StoreError::Denied { .. }) = error {
                            next.store(dependencies.len(), Ordering::Relaxed);
                        }
                        pruned.failed.push((dependency.clone(), error));
                    }
                }
                examined(pruned.removed + pruned.kept);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..THREADS.min(dependencies.len()) {
                scope.spawn(work);
            }
            work();
        });
        let mut pruned = pruned.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.inner.runner.executor.records.store.compact(self.namespace())?;
        pruned.failed.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(pruned)
    }
}
