use halfopen_contract::cas::Records;
use halfopen_contract::events;
use halfopen_contract::store::{CommitOutcome, Key, Snapshot, StoreError, Write};
use halfopen_contract::types::StorageError;

/// The arguments of `commit`, but for the name.
pub(super) struct Commit {
    pub based_on: u64,
    pub data: Option<Vec<u8>>,
    pub transitions: Vec<String>,
}

impl Commit {
    pub fn size(&self) -> usize {
        let transitions = self.transitions.iter().map(|json| size_of::<String>() + json.len());
        self.data.as_ref().map_or(0, Vec::len) + transitions.sum::<usize>()
    }
}

pub(super) fn denied(why: &str) -> StorageError {
    StorageError::Denied(why.to_owned())
}

/// The records of a namespace, for calls whose commits go to the store at once.
#[derive(Clone)]
pub(crate) struct WriteThrough(pub Records);

impl WriteThrough {
    pub(super) fn load(&self, dependency: &str) -> Result<Snapshot, StorageError> {
        self.0.store.load(self.key(dependency)).map_err(|error| self.failed(dependency, &error))
    }

    pub(super) fn commit(&self, dependency: &str, commit: &Commit) -> Result<CommitOutcome, StorageError> {
        let Some(version) = commit.based_on.checked_add(1) else {
            return Err(denied("no version is above the one that the commit is based on"));
        };
        let write = Write {
            key: self.key(dependency),
            based_on: commit.based_on,
            version,
            data: commit.data.as_deref(),
            transitions: &commit.transitions,
            history: self.0.history,
        };
        let outcomes = self.0.store.commit(&[write]).map_err(|error| self.failed(dependency, &error))?;
        let outcome = match outcomes.into_iter().next() {
            Some(outcome) => outcome,
            None => CommitOutcome::Stale(self.load(dependency)?),
        };
        if outcome == CommitOutcome::Committed {
            events::transitions(&self.0.namespace, dependency, &commit.transitions);
        }
        Ok(outcome)
    }

    fn key<'a>(&'a self, dependency: &'a str) -> Key<'a> {
        Key { namespace: &self.0.namespace, dependency }
    }

    /// The kind of the failure alone: the component passes it on to its caller, perhaps a tenant. The store's address and
    /// the reason are for the platform.
    fn failed(&self, dependency: &str, error: &StoreError) -> StorageError {
        events::store_failed(&self.0.namespace, dependency, error);
        match error {
            StoreError::Unavailable { .. } => StorageError::Unavailable("the store is not available".to_owned()),
            StoreError::Denied { .. } => StorageError::Denied("the store refuses".to_owned()),
            StoreError::Corrupt { .. } => StorageError::Corrupt("the store is damaged".to_owned()),
            StoreError::Newer { .. } => StorageError::Other("the store is of a later release".to_owned()),
            StoreError::InDoubt { .. } => {
                StorageError::Other("the store may or may not have done the last write".to_owned())
            }
            _ => StorageError::Other("the store failed".to_owned()),
        }
    }
}
