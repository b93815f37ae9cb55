//! The dependencies of a host, by name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::local_breaker::LocalBreaker;

/// The local breakers of a host.
pub(crate) struct Registry {
    entries: Mutex<Entries>,
    capacity: usize,
}

#[derive(Default)]
struct Entries {
    by_name: HashMap<Arc<str>, Arc<LocalBreaker>>,
    /// The number of entries at which those out of use are removed next.
    remove_at: usize,
}

impl Registry {
    /// A registry that removes entries out of use from `capacity` on: a stream of ever new names must not fill the memory.
    pub fn new(capacity: usize) -> Self {
        Registry { entries: Mutex::default(), capacity }
    }

    /// The local breaker of a dependency: the same for all callers.
    pub fn get(&self, dependency: &str) -> Arc<LocalBreaker> {
        let mut entries = self.entries();
        if let Some(local) = entries.by_name.get(dependency) {
            return local.clone();
        }
        if entries.by_name.len() >= entries.remove_at.max(self.capacity) {
            // No thread can get one meanwhile but through here.
            entries.by_name.retain(|_, local| Arc::strong_count(local) > 1 || local.has_successes());
            entries.remove_at = entries.by_name.len() * 2;
        }
        let name: Arc<str> = dependency.into();
        let local = Arc::new(LocalBreaker::new(name.clone()));
        entries.by_name.insert(name, local.clone());
        local
    }

    /// All local breakers.
    pub fn all(&self) -> Vec<Arc<LocalBreaker>> {
        self.entries().by_name.values().cloned().collect()
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
