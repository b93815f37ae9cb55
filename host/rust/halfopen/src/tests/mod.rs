//! A store in memory that counts what is asked of it, and runs a test's closure first.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use crate::store::{CommitOutcome, Cursor, Key, MemoryStore, Page, Snapshot, Store, StoreError, Write};

type Before = dyn Fn(Request<'_>) -> Result<(), StoreError> + Send + Sync;

/// See [the module](self).
pub(crate) struct Watched {
    inner: MemoryStore,
    loads: AtomicUsize,
    commits: AtomicUsize,
    before: Box<Before>,
}

/// A request to a store.
#[derive(Clone, Copy)]
pub(crate) enum Request<'a> {
    Load,
    Commit(&'a [Write<'a>]),
    Other,
}

impl Default for Watched {
    fn default() -> Self {
        Watched::with(|_| Ok(()))
    }
}

impl Watched {
    /// A store that runs `before` before each request, and fails where that does.
    pub fn with(before: impl Fn(Request<'_>) -> Result<(), StoreError> + Send + Sync + 'static) -> Self {
        let inner = MemoryStore::new();
        Watched { inner, loads: AtomicUsize::new(0), commits: AtomicUsize::new(0), before: Box::new(before) }
    }

    /// Loads and commits since the last time.
    pub fn since(&self) -> (usize, usize) {
        (self.loads.swap(0, SeqCst), self.commits.swap(0, SeqCst))
    }

    fn after(&self, request: Request<'_>) -> Result<&MemoryStore, StoreError> {
        match request {
            Request::Load => self.loads.fetch_add(1, SeqCst),
            Request::Commit(_) => self.commits.fetch_add(1, SeqCst),
            Request::Other => 0,
        };
        (self.before)(request).map(|()| &self.inner)
    }
}

/// The error of a store that a test has taken down.
pub(crate) fn down() -> StoreError {
    StoreError::Unavailable { place: "test".to_owned(), why: "it is down".to_owned() }
}

impl Store for Watched {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.after(Request::Load)?.load(key)
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.after(Request::Commit(writes))?.commit(writes)
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.after(Request::Other)?.list(namespace)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        self.after(Request::Other)?.history(key, limit)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.after(Request::Other)?.transitions(namespace, after, limit)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.after(Request::Other)?.remove_namespace(namespace)
    }
}
