//! Opening a file: the checks, WAL mode, and the schema.

use std::time::Instant;

use halfopen_contract::store::StoreError;
use rusqlite::{ErrorCode, OpenFlags, TransactionBehavior};
use rusqlite_migration::{M, Migrations};

use crate::busy;
use crate::connection::Connection;
use crate::error::{Place, is_locked};
use crate::options::Synchronous;

/// Marks a file as one of halfopen: "half" in ASCII. The schema sets it.
const APPLICATION_ID: i64 = 0x6861_6c66;

/// One step for each version of the schema. A released step is never changed.
const STEPS: &[M<'static>] = &[M::up(include_str!("schema.sql"))];

/// A connection that writes.
pub(crate) fn writer(place: &Place) -> Result<Connection, StoreError> {
    // SQLite would open a file that is read-only, and leave files beside it that are read-only too.
    place.refusal().map_or(Ok(()), Err)?;
    ready(place)
}

/// A connection that reads.
pub(crate) fn reader(place: &Place) -> Result<Connection, StoreError> {
    let connection = ready(place)?;
    connection.pragma_update(None, "query_only", true).map_err(|error| place.store_error(&error))?;
    Ok(connection)
}

/// A connection to a file that is made ready first, also while other processes do so.
fn ready(place: &Place) -> Result<Connection, StoreError> {
    let limit = place.options.busy_timeout;
    let started = Instant::now();
    let mut tries = 0;
    loop {
        let failed = match busy::limited(limit, || prepare(place)) {
            Ok(connection) => return Ok(Connection::new(connection, &place.path)),
            Err(failed) => failed,
        };
        // SQLite does not wait for the lock of the change to WAL mode, and a step of the schema that another process has
        // just done fails here.
        if !failed.may_pass || started.elapsed() >= limit {
            return Err(failed.error);
        }
        busy::pause(tries);
        tries += 1;
    }
}

/// Why a file is not ready, and whether a retry may help.
struct Failed {
    error: StoreError,
    may_pass: bool,
}

fn connect(place: &Place) -> rusqlite::Result<rusqlite::Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = rusqlite::Connection::open_with_flags(&place.path, flags)?;
    connection.busy_handler(Some(busy::handler))?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

fn prepare(place: &Place) -> Result<rusqlite::Connection, Failed> {
    let failed = |error: rusqlite::Error| Failed { error: place.store_error(&error), may_pass: is_locked(&error) };
    let final_error = |error| Failed { error, may_pass: false };
    let mut connection = connect(place).map_err(failed)?;
    let version = schema_version(&connection, place).map_err(failed)?.map_err(final_error)?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)).map_err(failed)?;
    if mode != "wal" {
        return Err(final_error(place.denied(format!(
            "its file system does not allow the WAL mode (it stays in mode {mode}); give a file on a local disk"
        ))));
    }
    let full = place.options.synchronous == Synchronous::Full;
    let pragma = |name, value: &str| connection.pragma_update(None, name, value).map_err(failed);
    pragma("synchronous", if full { "full" } else { "normal" })?;
    // On macOS a plain fsync leaves data in the drive's cache; on other systems these change nothing.
    pragma("fullfsync", if full { "on" } else { "off" })?;
    pragma("checkpoint_fullfsync", if full { "on" } else { "off" })?;
    if version < STEPS.len() as i64 {
        migrate(&mut connection, place)?;
    }
    Ok(connection)
}

/// The schema version of a file that is empty or of halfopen.
fn schema_version(connection: &rusqlite::Connection, place: &Place) -> rusqlite::Result<Result<i64, StoreError>> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    // The identity after the version: another process that is creating the file sets both at once.
    let version = number("user_version")?;
    if number("application_id")? != APPLICATION_ID {
        let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let application = number("application_id")?;
        if application != APPLICATION_ID && (tables > 0 || application != 0 || version != 0) {
            return Ok(Err(place.denied("it is a database of another program; give another file")));
        }
        return Ok(Ok(0));
    }
    if version > STEPS.len() as i64 {
        let error = StoreError::Newer { place: place.name(), found: version.unsigned_abs(), known: STEPS.len() as u64 };
        return Ok(Err(error));
    }
    Ok(Ok(version))
}

fn migrate(connection: &mut rusqlite::Connection, place: &Place) -> Result<(), Failed> {
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    Migrations::from_slice(STEPS).to_latest(connection).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => {
            // A step that another process has just done fails with a plain SQL error.
            let may_pass = is_locked(&err) || err.sqlite_error_code() == Some(ErrorCode::Unknown);
            Failed { error: place.store_error(&err), may_pass }
        }
        other => {
            let why = format!("its schema cannot be brought up to date: {other}");
            Failed { error: StoreError::Other { place: place.name(), why }, may_pass: true }
        }
    })
}
