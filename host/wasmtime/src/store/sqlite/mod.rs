//! SQLite: one file, which many processes may share.
//!
//! The file is in WAL mode: readers and the one writer do not wait for each other, and a read takes no write lock. Every
//! commit is one transaction, record and transitions together. Where the machine's clock is the clock of all processes
//! that share the file, as it must be, the host's [`Clock`](crate::Clock) serves; a file on a network file system is not
//! for this store.

mod busy;
mod fault;
mod file;
mod open;
mod readers;
mod rows;
mod transaction;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;

use self::fault::Place;
use self::file::{Identity, Opened};
use self::readers::Readers;
use self::transaction::Transaction;
use super::{CommitOutcome, Cursor, Key, Locked, Page, Snapshot, Store, StoreError, Write};
use crate::wire::Transition;

/// When a commit counts as durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Synchronous {
    /// When it is on the disk: it survives a crash of the machine. The default.
    #[default]
    Full,
    /// When the operating system has it: it survives a crash of the process; one of the machine may undo the newest
    /// commits. It spares the wait for the disk.
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

/// A store in a SQLite file. See [the module](self).
#[derive(Debug)]
pub struct SqliteStore {
    place: Place,
    /// None after a failure that left it in the middle of a transaction; the next write opens it anew.
    writer: Mutex<Option<Opened>>,
    readers: Readers,
    /// The file that was made ready last.
    ready: Mutex<Option<Identity>>,
}

impl SqliteStore {
    /// Opens the file, and creates it where it is missing. The folder must be there.
    ///
    /// # Errors
    /// [`StoreError`]: a folder, a missing folder around it, no rights, locked, not a database, a database of another
    /// program, of a later release, damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, SqliteOptions::default())
    }

    /// The same, with more to choose.
    ///
    /// # Errors
    /// As [`open`](SqliteStore::open).
    pub fn open_with(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, StoreError> {
        let place = Place { path: path.as_ref().to_owned(), options };
        let writer = open::writer(&place)?;
        let ready = Mutex::new(writer.identity());
        Ok(SqliteStore { place, writer: Mutex::new(Some(writer)), readers: Readers::default(), ready })
    }

    /// The file.
    pub fn path(&self) -> &PathBuf {
        &self.place.path
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let limit = self.place.options.busy_timeout;
        let read = |connection: &Connection| busy::limited(limit, || read(connection));
        let result = self.readers.read(&self.place, || self.ensure_ready(), read)?;
        result.map_err(|error| self.place.fault(&error))
    }

    /// Makes the file ready again where it has been removed since.
    fn ensure_ready(&self) -> Result<(), StoreError> {
        let known = *self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        if known.is_some() && known == Identity::of(&self.place.path) {
            return Ok(());
        }
        self.writer().map(drop)
    }

    fn writer(&self) -> Result<MutexGuard<'_, Option<Opened>>, StoreError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // What is written to a file that was removed nobody will read.
        if !writer.as_ref().is_some_and(Opened::is_at_its_path) {
            *writer = None;
            let opened = open::writer(&self.place)?;
            *self.ready.lock().unwrap_or_else(PoisonError::into_inner) = opened.identity();
            *writer = Some(opened);
        }
        Ok(writer)
    }

    fn begin(&self) -> Result<Transaction<'_>, StoreError> {
        Transaction::begin(&self.place, self.writer()?)
    }
}

impl Store for SqliteStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.read(|connection| rows::load(connection, key))
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        let mut transaction = self.begin()?;
        let outcomes = Locked::commit(&mut transaction, writes)?;
        // Where every race was lost there is nothing to write.
        if outcomes.contains(&CommitOutcome::Committed) {
            transaction.commit()?;
        }
        Ok(outcomes)
    }

    fn lock(&self) -> Result<Option<Box<dyn Locked + '_>>, StoreError> {
        Ok(Some(Box::new(self.begin()?)))
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.read(|connection| rows::list(connection, namespace))
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<Transition>, StoreError> {
        self.read(|connection| rows::history(connection, key, limit))
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.read(|connection| rows::transitions(connection, namespace, after, limit))
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin()?;
        transaction.run(|connection| rows::remove_namespace(connection, namespace))?;
        transaction.commit()
    }

    fn compact(&self, namespace: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin()?;
        transaction.run(|connection| rows::compact(connection, namespace))?;
        transaction.commit()
    }
}

#[cfg(test)]
mod tests;
