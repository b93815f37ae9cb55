//! A write transaction: the lock of the store, and the frame of a plain commit.

use std::sync::MutexGuard;

use halfopen_contract::store::{CommitOutcome, Key, Locked, Snapshot, StoreError, Write};

use crate::connection::Connection;
use crate::error::StoreFile;
use crate::{busy, statements};

/// A transaction that is rolled back when it is dropped before its commit.
pub(crate) struct Transaction<'a> {
    file: &'a StoreFile,
    writer: MutexGuard<'a, Option<Connection>>,
}

impl<'a> Transaction<'a> {
    /// Begins with the write lock held, so that no statement inside can lose a race.
    pub fn begin(file: &'a StoreFile, writer: MutexGuard<'a, Option<Connection>>) -> Result<Self, StoreError> {
        let mut transaction = Transaction { file, writer };
        transaction.run(|connection| execute(connection, "BEGIN IMMEDIATE"))?;
        Ok(transaction)
    }

    pub fn run<T>(&mut self, work: impl FnOnce(&rusqlite::Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let Some(connection) = self.writer.as_ref() else {
            return Err(self.file.place.unavailable("it has just failed; try again"));
        };
        busy::limited(self.file.options.busy_timeout, || work(connection))
            .map_err(|error| self.file.store_error(&error))
    }

    pub fn commit(mut self) -> Result<(), StoreError> {
        // Where this fails, `drop` rolls back, so that none of the writes is done.
        self.run(|connection| execute(connection, "COMMIT"))
    }
}

impl Locked for Transaction<'_> {
    fn load(&mut self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.run(|connection| statements::load(connection, key))
    }

    fn commit(&mut self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.run(|connection| writes.iter().map(|write| statements::write(connection, write)).collect())
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        Transaction::commit(*self)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.writer.as_ref()
            && !connection.is_autocommit()
            && execute(connection, "ROLLBACK").is_err()
        {
            *self.writer = None;
        }
    }
}

fn execute(connection: &rusqlite::Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}
