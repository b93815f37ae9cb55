//! A write transaction: the lock that `Store::lock` lends, and what a plain commit runs in.

use std::sync::MutexGuard;

use rusqlite::Connection;

use super::fault::Place;
use super::file::Opened;
use super::{CommitOutcome, Key, Locked, Snapshot, StoreError, Write, busy, rows};

/// Rolled back when it is dropped before its commit.
pub(super) struct Transaction<'a> {
    place: &'a Place,
    writer: MutexGuard<'a, Option<Opened>>,
}

impl<'a> Transaction<'a> {
    /// Begins with the write lock in hand, so that nothing inside can lose a race.
    pub fn begin(place: &'a Place, writer: MutexGuard<'a, Option<Opened>>) -> Result<Self, StoreError> {
        let mut transaction = Transaction { place, writer };
        transaction.run(|connection| execute(connection, "BEGIN IMMEDIATE"))?;
        Ok(transaction)
    }

    pub fn run<T>(&mut self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let Some(connection) = self.writer.as_ref() else {
            return Err(self.place.unavailable("it has just failed; try again"));
        };
        busy::limited(self.place.options.busy_timeout, || work(connection)).map_err(|error| self.place.fault(&error))
    }

    pub fn commit(mut self) -> Result<(), StoreError> {
        // Where this fails, `drop` rolls back, so that nothing of it is done.
        self.run(|connection| execute(connection, "COMMIT"))
    }
}

impl Locked for Transaction<'_> {
    fn load(&mut self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.run(|connection| rows::load(connection, key))
    }

    fn commit(&mut self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.run(|connection| writes.iter().map(|write| rows::write(connection, write)).collect())
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        Transaction::commit(*self)
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        let open = |connection: &Connection| !connection.is_autocommit();
        if let Some(connection) = self.writer.as_ref()
            && open(connection)
        {
            let rolled_back = execute(connection, "ROLLBACK");
            if rolled_back.is_err() || open(connection) {
                tracing::debug!(store = self.place.name(), "a connection that cannot roll back is replaced");
                *self.writer = None;
            }
        }
    }
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}
