//! The meaning of SQLite's errors for the user.

use std::io;
use std::path::{Path, PathBuf};

use halfopen_contract::store::StoreError;
use rusqlite::ErrorCode;

use crate::options::SqliteOptions;
use crate::system;

/// The file of a store, and how it is opened.
#[derive(Debug)]
pub(crate) struct Place {
    pub path: PathBuf,
    pub options: SqliteOptions,
}

const DISK_FULL: &str = "the disk is full; free some space";

/// The room that a store needs on its disk, in bytes: what SQLite adds to its files at once.
const LEAST_ROOM: u64 = 64 << 10;

const READ_ONLY: &str = "it is read-only; give this user the right to write the file and its folder";

impl Place {
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }

    pub fn unavailable(&self, why: impl Into<String>) -> StoreError {
        StoreError::Unavailable { place: self.name(), why: why.into() }
    }

    pub fn denied(&self, why: impl Into<String>) -> StoreError {
        StoreError::Denied { place: self.name(), why: why.into() }
    }

    pub fn corrupt(&self, why: impl Into<String>) -> StoreError {
        StoreError::Corrupt { place: self.name(), why: why.into() }
    }

    /// The error of the store for an error of SQLite.
    pub fn store_error(&self, error: &rusqlite::Error) -> StoreError {
        use rusqlite::Error as E;
        match error {
            E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::InvalidColumnType(..)
            | E::Utf8Error(..) => {
                return self.corrupt(format!("a row holds what this program never writes ({error}); restore the file"));
            }
            _ => {}
        }
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
                let waited = self.options.busy_timeout.as_millis();
                self.unavailable(format!("another process has held it locked for longer than {waited} ms; try again"))
            }
            Some(ErrorCode::DiskFull) => self.unavailable(DISK_FULL),
            Some(ErrorCode::SystemIoFailure) => self.io_failed(error),
            Some(ErrorCode::OutOfMemory) => self.unavailable("there is no memory left"),
            Some(ErrorCode::CannotOpen) => self.cannot_open(),
            Some(ErrorCode::ReadOnly) => self.denied(READ_ONLY),
            Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
                self.denied("this user has no right to it")
            }
            Some(ErrorCode::NotADatabase) => self.corrupt("it is not a SQLite database; give another file"),
            Some(ErrorCode::DatabaseCorrupt) => {
                self.corrupt("the database is malformed; restore it, or move it away to start with an empty one")
            }
            _ if lacks_a_part(error) => self.corrupt(format!(
                "a part of its schema is missing ({error}); restore the file, or move it away to start with an empty one"
            )),
            _ => StoreError::Other { place: self.name(), why: error.to_string() },
        }
    }

    /// Why the file should not be opened, before that is tried: it is no file, or this user may not read or write it.
    pub fn refusal(&self) -> Option<StoreError> {
        let kind = std::fs::metadata(&self.path).ok()?.file_type();
        if kind.is_dir() {
            return Some(self.denied("it is a folder; give the path of a file"));
        }
        if !kind.is_file() {
            return Some(self.denied("it is neither a file nor a folder; give the path of a file"));
        }
        if !system::may_read(&self.path) {
            return Some(self.denied("this user has no right to read and write it"));
        }
        (!system::may_write(&self.path)).then(|| self.denied(READ_ONLY))
    }

    /// SQLite gives no reason; the file system does.
    fn io_failed(&self, error: &rusqlite::Error) -> StoreError {
        if let Some(shortage) = self.shortage() {
            return self.unavailable(shortage);
        }
        let hint = system::file_size_limit().map_or_else(
            || "look at the disk".to_owned(),
            |limit| format!("no file may have more than {limit} bytes here (ulimit -f), or look at the disk"),
        );
        self.unavailable(format!("reading or writing failed ({error}); {hint}"))
    }

    /// The resource that has run out, if any, and the remedy.
    fn shortage(&self) -> Option<&'static str> {
        if let Some(limit) = system::fd_limit() {
            return Some(limit);
        }
        match system::room(self.folder())? {
            (_, false) => Some("its disk can hold no more files; remove some"),
            (bytes, true) => (bytes < LEAST_ROOM).then_some(DISK_FULL),
        }
    }

    fn folder(&self) -> &Path {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new("."))
    }

    /// Likewise.
    pub fn cannot_open(&self) -> StoreError {
        if self.path.is_relative() && std::env::current_dir().is_err() {
            return self.unavailable("the current folder has been removed; change to another, or give a full path");
        }
        if let Some(refusal) = self.refusal() {
            return refusal;
        }
        let folder = self.folder();
        match std::fs::metadata(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return self.unavailable(format!("there is no folder {}; create it", folder.display()));
            }
            Ok(metadata) if !metadata.is_dir() => {
                return self.denied(format!("{} is not a folder", folder.display()));
            }
            _ => {}
        }
        match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.denied("this user has no right to look into its folder")
            }
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                self.unavailable(format!("it cannot be opened ({error})"))
            }
            _ if !system::may_write(folder) => {
                self.denied("it cannot be opened; this user needs the right to create files in its folder")
            }
            _ => self.unavailable(self.shortage().unwrap_or("it cannot be opened, and the system does not say why")),
        }
    }
}

/// Whether the file is locked by another connection.
pub(crate) fn is_locked(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed)
    )
}

/// Whether a table or a column of the schema's version is missing. SQLite has no error code for that.
fn lacks_a_part(error: &rusqlite::Error) -> bool {
    let message = match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        _ => return false,
    };
    ["no such table", "no such column", "has no column named"].iter().any(|part| message.contains(part))
}
