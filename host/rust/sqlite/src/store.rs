use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use halfopen_contract::pool::Pool;
use halfopen_contract::store::{
    CommitOutcome, Cursor, Key, Locked, OpenError, Page, Snapshot, Store, StoreError, Write,
};

use crate::connection::Connection;
use crate::error::StoreFile;
use crate::options::SqliteOptions;
use crate::transaction::Transaction;
use crate::{address, busy, open, reading, statements};

/// The connections that read, at most. A read takes microseconds: more connections would only wait for each other.
const READERS: usize = 4;

/// A store in a SQLite file. See [the crate](crate).
#[derive(Debug)]
pub struct SqliteStore {
    file: StoreFile,
    /// None after a failure that left it in the middle of a transaction; the next write opens it again.
    writer: Mutex<Option<Connection>>,
    readers: Pool<Connection>,
}

impl SqliteStore {
    /// Opens the store at an address, `sqlite:PATH` or a bare path, and creates the file where it is missing. Its folder
    /// must exist.
    ///
    /// # Errors
    /// [`OpenError`]: the address names no file; the path is a folder, its folder is missing, this user lacks a right, the
    /// file is locked, is not a database, is a database of another program or of a later release, or is damaged.
    pub fn open(address: &str) -> Result<Self, OpenError> {
        Ok(Self::open_with(address::path(address)?, SqliteOptions::default())?)
    }

    /// Opens the store at an address only to read it: see [`SqliteOptions::read_only`].
    ///
    /// # Errors
    /// As [`open`](SqliteStore::open), but for the right to write.
    pub fn open_to_read(address: &str) -> Result<Self, OpenError> {
        let options = SqliteOptions { read_only: true, ..SqliteOptions::default() };
        Ok(Self::open_with(address::path(address)?, options)?)
    }

    /// Opens the store in the file at a path, with options.
    ///
    /// # Errors
    /// As [`open`](SqliteStore::open).
    pub fn open_with(path: impl AsRef<Path>, options: SqliteOptions) -> Result<Self, StoreError> {
        let file = StoreFile::new(path.as_ref(), options);
        let writer = if file.options.read_only { None } else { Some(open::writer(&file)?) };
        let store = SqliteStore { file, writer: Mutex::new(writer), readers: Pool::new(READERS).limited() };
        if store.file.options.read_only {
            store.read(|_| Ok(()))?;
        }
        Ok(store)
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let mut slot = self.readers.acquire();
        let connection = match slot.take().filter(Connection::is_at_its_path) {
            Some(connection) => connection,
            None if self.file.options.read_only => reading::connection(&self.file)?,
            None => open::connection(&self.file)?,
        };
        let result = busy::limited(self.file.options.busy_timeout, || read(&connection));
        slot.put_back(connection);
        result.map_err(|error| self.file.store_error(&error))
    }

    fn writer(&self) -> Result<MutexGuard<'_, Option<Connection>>, StoreError> {
        if self.file.options.read_only {
            return Err(self.file.place.denied("it was opened only to read it"));
        }
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        // No process reads what is written to a removed file.
        if !writer.as_ref().is_some_and(Connection::is_at_its_path) {
            *writer = None;
            *writer = Some(open::writer(&self.file)?);
        }
        Ok(writer)
    }

    fn begin(&self) -> Result<Transaction<'_>, StoreError> {
        Transaction::begin(&self.file, self.writer()?)
    }
}

impl Store for SqliteStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.read(|connection| statements::load(connection, key))
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        let mut transaction = self.begin()?;
        let outcomes = Locked::commit(&mut transaction, writes)?;
        // Where every race was lost there is nothing to commit.
        if outcomes.contains(&CommitOutcome::Committed) {
            transaction.commit()?;
        }
        Ok(outcomes)
    }

    fn lock(&self) -> Result<Option<Box<dyn Locked + '_>>, StoreError> {
        Ok(Some(Box::new(self.begin()?)))
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.read(|connection| statements::list(connection, namespace))
    }

    fn namespaces(&self) -> Result<Vec<String>, StoreError> {
        self.read(|connection| statements::namespaces(connection))
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        self.read(|connection| statements::history(connection, key, limit))
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.read(|connection| statements::transitions(connection, namespace, after, limit))
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin()?;
        transaction.run(|connection| statements::remove_namespace(connection, namespace))?;
        transaction.commit()
    }

    fn compact(&self, namespace: &str) -> Result<(), StoreError> {
        let mut transaction = self.begin()?;
        transaction.run(|connection| statements::compact(connection, namespace))?;
        transaction.commit()
    }
}

#[cfg(test)]
mod tests;
