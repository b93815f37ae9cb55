//! Opening a file to read it alone: without the right to write it, on a full disk, and where it is missing. Nothing is
//! created.

use std::path::Path;

use halfopen_contract::store::StoreError;
use rusqlite::OpenFlags;

use crate::connection::Connection;
use crate::error::StoreFile;
use crate::{busy, open, system};

/// A connection that reads. A missing or empty file reads as a store without records.
pub(crate) fn connection(file: &StoreFile) -> Result<Connection, StoreError> {
    if file.path.is_relative() && std::env::current_dir().is_err() {
        return Err(file.cannot_open());
    }
    if let Some(refusal) = file.refusal_to_read() {
        return Err(refusal);
    }
    match std::fs::metadata(&file.path) {
        Ok(metadata) if metadata.len() == 0 => return empty(file),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && file.folder().is_dir() => return empty(file),
        _ => return Err(file.cannot_open()),
    }
    let mut failed = None;
    for way in [Way::ReadWrite, Way::ReadOnly, Way::Immutable].into_iter().filter(|way| way.is_open_for(file)) {
        match busy::limited(file.options.busy_timeout, || way.open(file)) {
            Ok(opened) => return opened,
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    Err(failed.map_or_else(|| file.cannot_open(), |error| file.store_error(&error)))
}

/// A way to open the file. SQLite's index of the log is a file too, which some ways create.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// The last connection removes the log and its index again.
    ReadWrite,
    /// Enough where the log's index is there, or can be created.
    ReadOnly,
    /// Without a log and its index; for one read, since SQLite then takes the file for one that never changes.
    Immutable,
}

impl Way {
    fn is_open_for(self, file: &StoreFile) -> bool {
        match self {
            Way::ReadWrite => system::may_write(&file.path),
            Way::ReadOnly => true,
            Way::Immutable => std::fs::metadata(file.beside("-wal")).map_or(true, |log| log.len() == 0),
        }
    }

    fn open(self, file: &StoreFile) -> rusqlite::Result<Result<Connection, StoreError>> {
        let access = match self {
            Way::ReadWrite => OpenFlags::SQLITE_OPEN_READ_WRITE,
            Way::ReadOnly | Way::Immutable => OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
        };
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
        let opened = match self {
            Way::Immutable => rusqlite::Connection::open_with_flags(immutable(&file.path), flags)?,
            Way::ReadWrite | Way::ReadOnly => rusqlite::Connection::open_with_flags(&file.path, flags)?,
        };
        opened.busy_handler(Some(busy::handler))?;
        opened.pragma_update(None, "trusted_schema", false)?;
        Ok(match open::schema_version(&opened, file)? {
            Err(refusal) => Err(refusal),
            Ok(0) => empty(file),
            Ok(_) if self == Way::Immutable => Ok(Connection::for_one_read(opened)),
            Ok(_) => Ok(Connection::new(opened, &file.path)),
        })
    }
}

/// A store without records, in memory.
fn empty(file: &StoreFile) -> Result<Connection, StoreError> {
    let made = rusqlite::Connection::open_in_memory().and_then(|connection| {
        connection.execute_batch(include_str!("schema.sql"))?;
        Ok(connection)
    });
    made.map(Connection::for_one_read).map_err(|error| file.store_error(&error))
}

/// The URI of a file that never changes.
fn immutable(path: &Path) -> String {
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    // A relative path is one too; two slashes at its start would begin the name of a host.
    format!("file:{}{path}?immutable=1", if path.starts_with("//") { "//" } else { "" })
}
