use std::sync::Arc;

use halfopen_contract::store::{CommitOutcome, Cursor, Key, Locked, Page, Snapshot, Store, StoreError, Write};

/// A store without its clock: a run has a clock of its own.
pub struct Clockless(pub Arc<dyn Store>);

fn clockless(snapshot: Snapshot) -> Snapshot {
    Snapshot { at: None, ..snapshot }
}

fn all_clockless(outcomes: Vec<CommitOutcome>) -> Vec<CommitOutcome> {
    let one = |outcome| match outcome {
        CommitOutcome::Committed => CommitOutcome::Committed,
        CommitOutcome::Stale(snapshot) => CommitOutcome::Stale(clockless(snapshot)),
    };
    outcomes.into_iter().map(one).collect()
}

impl Store for Clockless {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.0.load(key).map(clockless)
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.0.commit(writes).map(all_clockless)
    }

    fn lock(&self) -> Result<Option<Box<dyn Locked + '_>>, StoreError> {
        Ok(self.0.lock()?.map(|locked| Box::new(ClocklessLocked(locked)) as Box<dyn Locked + '_>))
    }

    fn max_records(&self) -> usize {
        self.0.max_records()
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.0.list(namespace)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        self.0.history(key, limit)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.0.transitions(namespace, after, limit)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.0.remove_namespace(namespace)
    }

    fn compact(&self, namespace: &str) -> Result<(), StoreError> {
        self.0.compact(namespace)
    }
}

struct ClocklessLocked<'a>(Box<dyn Locked + 'a>);

impl Locked for ClocklessLocked<'_> {
    fn load(&mut self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.0.load(key).map(clockless)
    }

    fn commit(&mut self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.0.commit(writes).map(all_clockless)
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        self.0.finish()
    }
}
