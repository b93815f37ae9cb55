//! Records that a component reaches at once, where nobody holds back what it commits.

use std::sync::Arc;

use crate::error::StoreError;
use crate::events;
use crate::imports::{Commit, denied};
use crate::store::{CommitOutcome, Key, Snapshot, Store, Write};
use crate::wire::StorageError;

/// The records of a namespace.
pub(crate) struct Direct {
    pub store: Arc<dyn Store>,
    pub namespace: Box<str>,
    pub history: usize,
}

/// What a commit came to.
pub(crate) enum Outcome {
    /// It is done; the new version.
    Committed(u64),
    /// Another has written since: the record as it is now.
    Stale(Snapshot),
}

impl Direct {
    pub fn load(&self, dependency: &str) -> Result<Snapshot, StorageError> {
        self.store.load(self.key(dependency)).map_err(|error| self.told(dependency, &error))
    }

    /// Commits at once.
    pub fn commit(&self, dependency: &str, commit: Commit) -> Result<Outcome, StorageError> {
        let Some(version) = commit.based_on.checked_add(1) else {
            return Err(denied("no version is above the one that the commit is based on"));
        };
        let write = Write {
            key: self.key(dependency),
            based_on: commit.based_on,
            version,
            data: commit.data.as_deref(),
            transitions: &commit.transitions,
            history: self.history,
        };
        let outcome = self.store.commit(&[write]).map_err(|error| self.told(dependency, &error))?;
        match outcome.into_iter().next() {
            Some(CommitOutcome::Committed) => {
                events::transitions(&self.namespace, dependency, &commit.transitions);
                Ok(Outcome::Committed(version))
            }
            Some(CommitOutcome::Stale(present)) => Ok(Outcome::Stale(present)),
            None => self.load(dependency).map(Outcome::Stale),
        }
    }

    fn key<'a>(&'a self, dependency: &'a str) -> Key<'a> {
        Key { namespace: &self.namespace, dependency }
    }

    /// Which kind of failure it is goes to the component, and from there to whoever called it, a tenant perhaps; where the
    /// store is and what is wrong with it is for the platform alone.
    fn told(&self, dependency: &str, error: &StoreError) -> StorageError {
        events::store_failed(&self.namespace, dependency, error);
        match error {
            StoreError::Unavailable { .. } => StorageError::Unavailable("the store is not available".to_owned()),
            StoreError::Denied { .. } => StorageError::Denied("the store refuses".to_owned()),
            StoreError::Corrupt { .. } => StorageError::Corrupt("the store is damaged".to_owned()),
            StoreError::Newer { .. } => StorageError::Other("the store is of a later release".to_owned()),
            StoreError::InDoubt { .. } => {
                StorageError::Other("the store may or may not have done the last write".to_owned())
            }
            StoreError::Other { .. } => StorageError::Other("the store failed".to_owned()),
        }
    }
}
