use std::sync::{Arc, OnceLock};
use std::time::Duration;

use halfopen_contract::store::{
    CommitOutcome, Cursor, Key, Locked, OpenError, Page, Snapshot, Store, StoreError, Write, masked,
};

use super::open::open;

/// A store that did not open with its host: each operation tries again.
pub(crate) struct LazyStore {
    address: String,
    opened: OnceLock<Arc<dyn Store>>,
}

impl LazyStore {
    /// A store at an address whose form is right.
    pub fn at(address: String) -> Self {
        LazyStore { address, opened: OnceLock::new() }
    }

    fn store(&self) -> Result<&Arc<dyn Store>, StoreError> {
        if let Some(store) = self.opened.get() {
            return Ok(store);
        }
        // Where several threads open it at once, one of the stores is used.
        match open(&self.address) {
            Ok(store) => Ok(self.opened.get_or_init(|| store)),
            Err(OpenError::Store(error)) => Err(error),
            Err(other) => {
                Err(StoreError::Other { place: masked(&self.address), why: format!("it does not open: {other}") })
            }
        }
    }
}

impl Store for LazyStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.store()?.load(key)
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.store()?.commit(writes)
    }

    fn lock(&self) -> Result<Option<Box<dyn Locked + '_>>, StoreError> {
        self.store()?.lock()
    }

    fn max_records(&self) -> usize {
        self.opened.get().map_or(usize::MAX, |store| store.max_records())
    }

    fn max_skew(&self) -> Option<Duration> {
        self.opened.get().and_then(|store| store.max_skew())
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.store()?.list(namespace)
    }

    fn namespaces(&self) -> Result<Vec<String>, StoreError> {
        self.store()?.namespaces()
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        self.store()?.history(key, limit)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.store()?.transitions(namespace, after, limit)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.store()?.remove_namespace(namespace)
    }

    fn compact(&self, namespace: &str) -> Result<(), StoreError> {
        self.store()?.compact(namespace)
    }
}
