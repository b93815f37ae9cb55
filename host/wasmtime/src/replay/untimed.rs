//! A store without its clock. A run has a clock of its own, also on a store that would otherwise tell the time.

use std::sync::Arc;

use crate::store::{CommitOutcome, Cursor, Key, Locked, Page, Snapshot, Store, StoreError, Write};
use crate::wire::Transition;

pub(super) struct Untimed(pub(super) Arc<dyn Store>);

fn untimed(snapshot: Snapshot) -> Snapshot {
    Snapshot { at: None, ..snapshot }
}

fn untimed_all(outcomes: Vec<CommitOutcome>) -> Vec<CommitOutcome> {
    let one = |outcome| match outcome {
        CommitOutcome::Committed => CommitOutcome::Committed,
        CommitOutcome::Stale(snapshot) => CommitOutcome::Stale(untimed(snapshot)),
    };
    outcomes.into_iter().map(one).collect()
}

impl Store for Untimed {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.0.load(key).map(untimed)
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.0.commit(writes).map(untimed_all)
    }

    fn lock(&self) -> Result<Option<Box<dyn Locked + '_>>, StoreError> {
        Ok(self.0.lock()?.map(|locked| Box::new(UntimedLocked(locked)) as Box<dyn Locked + '_>))
    }

    fn max_records(&self) -> usize {
        self.0.max_records()
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.0.list(namespace)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<Transition>, StoreError> {
        self.0.history(key, limit)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.0.transitions(namespace, after, limit)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.0.remove_namespace(namespace)
    }
}

struct UntimedLocked<'a>(Box<dyn Locked + 'a>);

impl Locked for UntimedLocked<'_> {
    fn load(&mut self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.0.load(key).map(untimed)
    }

    fn commit(&mut self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.0.commit(writes).map(untimed_all)
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        self.0.finish()
    }
}
