use super::*;

/// A store in this process's memory, gone with it.
#[derive(Debug, Default)]
pub struct MemoryStore {}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

#[allow(unused_variables)]
impl Store for MemoryStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        todo!()
    }
    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        todo!()
    }
    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        todo!()
    }
    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<Transition>, StoreError> {
        todo!()
    }
    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        todo!()
    }
    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        todo!()
    }
}
