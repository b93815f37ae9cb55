//! SQLite.
use super::*;
use std::path::Path;
use std::time::Duration;

/// When a commit counts as durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Synchronous {
    /// When it is on the disk: it survives a crash of the machine. The default.
    #[default]
    Full,
    /// When the operating system has it: it survives a crash of the process; one of the machine may undo the newest.
    Normal,
}

/// How a SQLite store is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// When a commit counts as durable.
    pub synchronous: Synchronous,
    /// How long to wait for others that hold the file locked. Default 5 s.
    pub busy_timeout: Duration,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        SqliteOptions { synchronous: Synchronous::Full, busy_timeout: Duration::from_secs(5) }
    }
}

/// A store in a SQLite file, which many processes may share.
#[derive(Debug)]
pub struct SqliteStore {}

#[allow(unused_variables)]
impl SqliteStore {
    /// Opens the file, and creates it where it is missing.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        todo!()
    }
    /// The same, with more to choose.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open_with(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, StoreError> {
        todo!()
    }
}

#[allow(unused_variables)]
impl Store for SqliteStore {
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
