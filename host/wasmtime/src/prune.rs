//! Removes the records of a namespace that nobody needs any more.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::error::{BreakerError, StoreError};
use crate::host::Host;

/// So many ask at once: what they remove shares the store's commits.
const AT_ONCE: usize = 16;

/// What [`Host::prune`] came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pruned {
    /// How many records were removed.
    pub removed: u64,
    /// How many are still needed.
    pub kept: u64,
    /// The dependencies whose record could not be looked at, sorted, and why. After a store's error the rest is left
    /// alone and counted nowhere.
    pub failed: Vec<(String, BreakerError)>,
}

pub(crate) fn prune(host: &Host, idle: Duration) -> Result<Pruned, StoreError> {
    let dependencies = host.list()?;
    let next = AtomicUsize::new(0);
    let pruned = Mutex::new(Pruned::default());
    let work = || {
        while let Some(dependency) = dependencies.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = host.breaker(dependency.as_str()).prune(idle);
            let Ok(mut pruned) = pruned.lock() else { return };
            match result {
                Ok(true) => pruned.removed += 1,
                Ok(false) => pruned.kept += 1,
                Err(error) => {
                    if matches!(error, BreakerError::Store(StoreError::Unavailable { .. } | StoreError::Denied { .. }))
                    {
                        next.store(dependencies.len(), Ordering::Relaxed);
                    }
                    pruned.failed.push((dependency.clone(), error));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..AT_ONCE.min(dependencies.len()) {
            scope.spawn(work);
        }
        work();
    });
    let mut pruned = pruned.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    host.inner.store.compact(host.namespace())?;
    pruned.failed.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(pruned)
}
