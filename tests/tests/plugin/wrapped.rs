//! A store in which something happens at each load and commit.

use std::sync::Arc;
use std::time::Duration;

use halfopen::store::{CommitOutcome, Cursor, Key, MemoryStore, Page, Snapshot, Store, StoreError, Write};

type Hook = dyn Fn() -> Result<(), StoreError> + Send + Sync;

/// A store in memory with hooks.
pub struct Wrapped {
    pub inner: Arc<MemoryStore>,
    pub before_load: Box<Hook>,
    pub before_commit: Box<Hook>,
    /// Its own clock.
    pub at: Option<u64>,
    pub max_skew: Option<Duration>,
}

impl Wrapped {
    pub fn around(inner: &Arc<MemoryStore>) -> Wrapped {
        let nothing = || Box::new(|| Ok(()));
        Wrapped { inner: inner.clone(), before_load: nothing(), before_commit: nothing(), at: None, max_skew: None }
    }

    fn timed(&self, snapshot: Snapshot) -> Snapshot {
        Snapshot { at: self.at, ..snapshot }
    }
}

pub fn unavailable() -> StoreError {
    StoreError::Unavailable { place: "db.internal:5432".to_owned(), why: "db.internal is on fire".to_owned() }
}

impl Store for Wrapped {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        (self.before_load)()?;
        self.inner.load(key).map(|snapshot| self.timed(snapshot))
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        (self.before_commit)()?;
        let timed = |outcome| match outcome {
            CommitOutcome::Stale(snapshot) => CommitOutcome::Stale(self.timed(snapshot)),
            done => done,
        };
        Ok(self.inner.commit(writes)?.into_iter().map(timed).collect())
    }

    fn max_skew(&self) -> Option<Duration> {
        self.max_skew
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.inner.list(namespace)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        self.inner.history(key, limit)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.inner.transitions(namespace, after, limit)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.inner.remove_namespace(namespace)
    }
}
