//! Opening a file: the checks, WAL mode, and the schema.

use std::time::Instant;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use rusqlite_migration::{M, Migrations};

use super::fault::Place;
use super::file::Opened;
use super::{StoreError, Synchronous, busy};

/// Marks a file as one of ours: "half" in ASCII.
const APPLICATION_ID: i32 = 0x6861_6c66;

/// One step a schema version. A step that was released is never changed.
///
/// `record`: the data is null once the record is removed; the version stays. `counted` numbers its transitions.
/// `removed`: a namespace, and a version that is at least as high as any that a record had of which nothing is kept.
const STEPS: &[M<'static>] = &[M::up(
    "PRAGMA application_id = 1751215206;
     CREATE TABLE record (
         namespace TEXT NOT NULL,
         dependency TEXT NOT NULL,
         version INTEGER NOT NULL,
         counted INTEGER NOT NULL,
         data BLOB,
         PRIMARY KEY (namespace, dependency)
     ) STRICT, WITHOUT ROWID;
     CREATE TABLE transition (
         id INTEGER PRIMARY KEY AUTOINCREMENT,
         namespace TEXT NOT NULL,
         dependency TEXT NOT NULL,
         number INTEGER NOT NULL,
         from_state TEXT NOT NULL,
         to_state TEXT NOT NULL,
         at INTEGER NOT NULL,
         epoch INTEGER NOT NULL,
         reason TEXT NOT NULL
     ) STRICT;
     CREATE UNIQUE INDEX transition_of_record ON transition (namespace, dependency, number);
     CREATE TABLE removed (
         namespace TEXT PRIMARY KEY,
         version INTEGER NOT NULL
     ) STRICT, WITHOUT ROWID;",
)];

/// A connection that writes; the file is made ready first, whoever else is doing so at the same moment.
pub(super) fn writer(place: &Place) -> Result<Opened, StoreError> {
    let limit = place.options.busy_timeout;
    let started = Instant::now();
    let mut tries = 0;
    loop {
        let failed = match busy::limited(limit, || prepare(place)) {
            Ok(connection) => return Ok(Opened::new(connection, &place.path)),
            Err(failed) => failed,
        };
        // Not every lock is waited for by SQLite: not that of the change to WAL mode, and a step of the schema that
        // another process has just done fails here.
        if !failed.may_pass || started.elapsed() >= limit {
            return Err(failed.error);
        }
        busy::pause(tries);
        tries += 1;
    }
}

/// A connection that reads; the file is known to be ready.
pub(super) fn reader(place: &Place) -> Result<Opened, StoreError> {
    let connect = || {
        let connection = connect(place)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(Opened::new(connection, &place.path))
    };
    busy::limited(place.options.busy_timeout, connect).map_err(|error| place.fault(&error))
}

struct Failed {
    error: StoreError,
    may_pass: bool,
}

fn connect(place: &Place) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let connection = Connection::open_with_flags(&place.path, flags)?;
    connection.busy_handler(Some(busy::handler))?;
    connection.set_prepared_statement_cache_capacity(32);
    connection.pragma_update(None, "trusted_schema", false)?;
    Ok(connection)
}

fn prepare(place: &Place) -> Result<Connection, Failed> {
    let failed = |error: rusqlite::Error| Failed { error: place.fault(&error), may_pass: is_locked(&error) };
    let for_good = |error| Failed { error, may_pass: false };
    // SQLite would open a file that is read-only, and leave files beside it that are read-only too.
    if let Some(refused) = place.refused() {
        return Err(for_good(refused));
    }
    let mut connection = connect(place).map_err(failed)?;
    let version = check_ours(&connection, place).map_err(failed)?.map_err(for_good)?;
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get(0)).map_err(failed)?;
    if mode != "wal" {
        return Err(for_good(place.denied(format!(
            "its file system does not allow the WAL mode (it stays in mode {mode}); give a file on a local disk"
        ))));
    }
    let synchronous = match place.options.synchronous {
        Synchronous::Full => "full",
        Synchronous::Normal => "normal",
    };
    connection.pragma_update(None, "synchronous", synchronous).map_err(failed)?;
    // Elsewhere than on macOS these change nothing; there a plain fsync leaves data in the drive's cache.
    let full = place.options.synchronous == Synchronous::Full;
    connection.pragma_update(None, "fullfsync", full).map_err(failed)?;
    connection.pragma_update(None, "checkpoint_fullfsync", full).map_err(failed)?;
    if version < STEPS.len() as i64 {
        migrate(&mut connection, place)?;
    }
    Ok(connection)
}

/// The schema version of a file that is ours, or empty.
fn check_ours(connection: &Connection, place: &Place) -> rusqlite::Result<Result<i64, StoreError>> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    // The version last: another process that is just making the file makes all of it at once.
    let version = number("user_version")?;
    let application = number("application_id")?;
    if application != i64::from(APPLICATION_ID) {
        let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let application = number("application_id")?;
        if application != i64::from(APPLICATION_ID) && (tables > 0 || application != 0 || version != 0) {
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

fn migrate(connection: &mut Connection, place: &Place) -> Result<(), Failed> {
    connection.set_transaction_behavior(TransactionBehavior::Immediate);
    Migrations::from_slice(STEPS).to_latest(connection).map_err(|error| match error {
        rusqlite_migration::Error::RusqliteError { err, .. } => {
            // A plain SQL error is how a step fails that another process has just done.
            let may_pass = is_locked(&err) || err.sqlite_error_code() == Some(ErrorCode::Unknown);
            Failed { error: place.fault(&err), may_pass }
        }
        other => {
            let why = format!("its schema cannot be brought up to date: {other}");
            Failed { error: StoreError::Other { place: place.name(), why }, may_pass: true }
        }
    })
}

fn is_locked(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed)
    )
}
