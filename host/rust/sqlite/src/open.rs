//! Opening a file: the checks, WAL mode, and the schema.

use std::time::Instant;

use halfopen_contract::store::StoreError;
use rusqlite::{OpenFlags, TransactionBehavior};

use crate::busy;
use crate::connection::Connection;
use crate::error::{StoreFile, is_locked};
use crate::options::Synchronous;

/// Marks a file as one of halfopen: "half" in ASCII. The schema sets it.
const APPLICATION_ID: i64 = 0x6861_6c66;

/// The version of the schema that this release makes and knows. The schema sets it.
const VERSION: i64 = 1;

/// A connection that writes.
pub(crate) fn writer(file: &StoreFile) -> Result<Connection, StoreError> {
    // SQLite would open a file that is read-only, and leave files beside it that are read-only too.
    file.refusal().map_or(Ok(()), Err)?;
    connection(file)
}

/// A connection to a file that is made ready first, also while other processes do so.
pub(crate) fn connection(file: &StoreFile) -> Result<Connection, StoreError> {
    let limit = file.options.busy_timeout;
    let started = Instant::now();
    let mut tries = 0;
    loop {
        match busy::limited(limit, || prepare(file)) {
            // SQLite does not wait for the lock of the change to WAL mode.
            Err(error) if is_locked(&error) && started.elapsed() < limit => busy::pause(tries),
            Err(error) => return Err(file.store_error(&error)),
            Ok(prepared) => return prepared.map(|connection| Connection::new(connection, &file.path)),
        }
        tries += 1;
    }
}

fn prepare(file: &StoreFile) -> rusqlite::Result<Result<rusqlite::Connection, StoreError>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let mut connection = rusqlite::Connection::open_with_flags(&file.path, flags)?;
    connection.busy_handler(Some(busy::handler))?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.pragma_update(None, "trusted_schema", false)?;
    let version = match schema_version(&connection, file)? {
        Ok(version) => version,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0))?;
    if mode != "wal" {
        return Ok(Err(file.place.denied(format!(
            "its file system does not allow the WAL mode (it stays in mode {mode}); give a file on a local disk"
        ))));
    }
    let full = file.options.synchronous == Synchronous::Full;
    connection.pragma_update(None, "synchronous", if full { "full" } else { "normal" })?;
    // On macOS a plain fsync leaves data in the drive's cache; on other systems these change nothing.
    connection.pragma_update(None, "fullfsync", full)?;
    connection.pragma_update(None, "checkpoint_fullfsync", full)?;
    if version == 0 {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have made it by now.
        if pragma(&transaction, "user_version")? == 0 {
            transaction.execute_batch(include_str!("schema.sql"))?;
        }
        transaction.commit()?;
    }
    Ok(Ok(connection))
}

/// The schema version of a file that is empty or of halfopen.
pub(crate) fn schema_version(
    connection: &rusqlite::Connection,
    file: &StoreFile,
) -> rusqlite::Result<Result<i64, StoreError>> {
    // The identity after the version: another process that is creating the file sets both at once.
    let version = pragma(connection, "user_version")?;
    if pragma(connection, "application_id")? != APPLICATION_ID {
        let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let application = pragma(connection, "application_id")?;
        if application != APPLICATION_ID && (tables > 0 || application != 0 || version != 0) {
            return Ok(Err(file.place.denied("it is a database of another program; give another file")));
        }
        return Ok(Ok(0));
    }
    if version > VERSION {
        return Ok(Err(file.place.newer(version.unsigned_abs(), VERSION.unsigned_abs())));
    }
    Ok(Ok(version))
}

fn pragma(connection: &rusqlite::Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}
