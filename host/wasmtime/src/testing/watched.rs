//! A store in memory that counts what is asked of it, and lets a test have its way first.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::store::{CommitOutcome, Cursor, Key, MemoryStore, Page, Snapshot, Store, StoreError, Write};
use crate::wire::Transition;

type Before = dyn Fn(Asked<'_>) -> Result<(), StoreError> + Send + Sync;

/// See [the module](self).
pub(crate) struct Watched {
    inner: MemoryStore,
    loads: AtomicUsize,
    commits: AtomicUsize,
    before: Box<Before>,
}

/// What a store is asked for.
#[derive(Clone, Copy)]
pub(crate) enum Asked<'a> {
    Load,
    Commit(&'a [Write<'a>]),
    Else,
}

impl Default for Watched {
    fn default() -> Self {
        Watched::that(|_| Ok(()))
    }
}

impl Watched {
    /// One that does something before whatever it is asked for, or fails instead.
    pub fn that(before: impl Fn(Asked<'_>) -> Result<(), StoreError> + Send + Sync + 'static) -> Self {
        let inner = MemoryStore::new();
        Watched { inner, loads: AtomicUsize::new(0), commits: AtomicUsize::new(0), before: Box::new(before) }
    }

    /// Loads and commits since the last time.
    pub fn since(&self) -> (usize, usize) {
        (self.loads.swap(0, SeqCst), self.commits.swap(0, SeqCst))
    }

    fn after(&self, asked: Asked<'_>) -> Result<&MemoryStore, StoreError> {
        match asked {
            Asked::Load => self.loads.fetch_add(1, SeqCst),
            Asked::Commit(_) => self.commits.fetch_add(1, SeqCst),
            Asked::Else => 0,
        };
        (self.before)(asked).map(|()| &self.inner)
    }
}

/// What a store says that fails because it was told to.
pub(crate) fn down() -> StoreError {
    StoreError::Unavailable { place: "test".to_owned(), why: "told to".to_owned() }
}

impl Store for Watched {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.after(Asked::Load)?.load(key)
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.after(Asked::Commit(writes))?.commit(writes)
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.after(Asked::Else)?.list(namespace)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<Transition>, StoreError> {
        self.after(Asked::Else)?.history(key, limit)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.after(Asked::Else)?.transitions(namespace, after, limit)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.after(Asked::Else)?.remove_namespace(namespace)
    }
}
