//! An empty namespace for one run.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use crate::StoreError;
use crate::store::Store;

/// A namespace that nobody else has, removed when this is dropped.
pub(super) struct OwnNamespace {
    store: Arc<dyn Store>,
    name: String,
    removed: bool,
}

impl OwnNamespace {
    pub(super) fn new(store: Arc<dyn Store>) -> Self {
        // Hashed under keys that the operating system gave this process at random: nobody can guess the name, and no
        // other process or run has it. A seeded generator would give a second process the same names.
        let [one, other] = [(); 2].map(|()| RandomState::new().hash_one(std::process::id()));
        let name = format!("replay-{one:016x}{other:016x}");
        OwnNamespace { store, name, removed: false }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// From now on goes by this way to the same store.
    pub(super) fn reach_by(&mut self, store: Arc<dyn Store>) {
        self.store = store;
    }

    /// Removes it, and tells whether that worked.
    pub(super) fn remove(mut self) -> Result<(), StoreError> {
        self.removed = true;
        self.store.remove_namespace(&self.name)
    }
}

impl Drop for OwnNamespace {
    fn drop(&mut self) {
        if !self.removed {
            // On the way out of a failure, which is what the user is to hear of.
            let _ = self.store.remove_namespace(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::MemoryStore;

    #[test]
    fn names_do_not_repeat() {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let names: std::collections::HashSet<String> =
            (0..1_000).map(|_| OwnNamespace::new(Arc::clone(&store)).name().to_owned()).collect();
        assert_eq!(names.len(), 1_000);
    }
}
