//! A store that forwards to another and records what passes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use halfopen::store::{CommitOutcome, Cursor, Key, Locked, Page, Snapshot, Store, StoreError, Write};

/// See [the module](self).
pub struct Tap {
    inner: Arc<dyn Store>,
    reads: AtomicU64,
    writes: AtomicU64,
    written: Mutex<Vec<Written>>,
}

/// What was written, as plain data.
#[derive(Clone, Debug)]
pub struct Written {
    /// The record.
    pub data: Vec<u8>,
    /// What was added to its history.
    pub transitions: Vec<String>,
}

impl Tap {
    /// In front of a store.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Tap { inner, reads: AtomicU64::new(0), writes: AtomicU64::new(0), written: Mutex::default() }
    }

    /// How many transactions there were so far: those that read, and those that write.
    pub fn transactions(&self) -> (u64, u64) {
        (self.reads.load(Ordering::Relaxed), self.writes.load(Ordering::Relaxed))
    }

    /// What was written since this was last asked.
    pub fn take(&self) -> Vec<Written> {
        std::mem::take(&mut *self.written.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, writes: &[Write<'_>]) {
        let plain = |write: &Write<'_>| Written {
            data: write.data.unwrap_or_default().to_vec(),
            transitions: write.transitions.to_vec(),
        };
        self.written.lock().unwrap_or_else(PoisonError::into_inner).extend(writes.iter().map(plain));
    }
}

impl Store for Tap {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.inner.load(key)
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.note(writes);
        self.inner.commit(writes)
    }

    fn lock(&self) -> Result<Option<Box<dyn Locked + '_>>, StoreError> {
        let locked = self.inner.lock()?;
        if locked.is_some() {
            self.writes.fetch_add(1, Ordering::Relaxed);
        }
        Ok(locked)
    }

    fn max_records(&self) -> usize {
        self.inner.max_records()
    }

    fn max_skew(&self) -> Option<Duration> {
        self.inner.max_skew()
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

    fn compact(&self, namespace: &str) -> Result<(), StoreError> {
        self.inner.compact(namespace)
    }
}
