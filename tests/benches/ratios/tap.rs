//! A store that lets everything through to another, and keeps note of it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use halfopen::Transition;
use halfopen::store::{CommitOutcome, Cursor, Key, Locked, Page, Snapshot, Store, StoreError, Write};

/// See [the module](self).
#[derive(Debug)]
pub struct Tap<S> {
    inner: S,
    reads: AtomicU64,
    writes: AtomicU64,
    written: Mutex<Vec<Written>>,
}

/// What was written, as plain data.
#[derive(Clone, Debug)]
pub struct Written {
    pub data: Vec<u8>,
    pub transitions: Vec<Transition>,
}

impl<S> Tap<S> {
    pub fn new(inner: S) -> Self {
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

impl<S: Store> Store for Tap<S> {
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
        self.writes.fetch_add(1, Ordering::Relaxed);
        self.inner.lock()
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.inner.list(namespace)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<Transition>, StoreError> {
        self.inner.history(key, limit)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.inner.transitions(namespace, after, limit)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.inner.remove_namespace(namespace)
    }
}

/// What the component writes in so many steps on one dependency.
pub fn recorded(
    policy: halfopen::Policy,
    steps: usize,
    mut step: impl FnMut(&halfopen::Breaker, &halfopen::ManualClock) -> crate::setting::Result<()>,
) -> crate::setting::Result<Vec<Written>> {
    let tap = std::sync::Arc::new(Tap::new(halfopen::store::MemoryStore::default()));
    let clock = crate::setting::clock();
    let builder = halfopen::Host::builder().shared_store(tap.clone()).clock(clock.clone()).default_policy(policy);
    let breaker = builder.build()?.breaker("payments");
    for _ in 0..steps {
        step(&breaker, &clock)?;
    }
    Ok(tap.take())
}
