//! The meaning of SQLite's errors for the user.

use std::io;
use std::path::{Path, PathBuf};

use halfopen_contract::store::{Place, StoreError};
use rusqlite::ErrorCode;

use crate::options::SqliteOptions;
use crate::system;

/// The file of a store, and how it is opened.
#[derive(Debug)]
pub(crate) struct StoreFile {
    pub path: PathBuf,
    pub options: SqliteOptions,
    pub place: Place,
}

pub(crate) const DISK_FULL: &str = "the disk is full; free some space";

const READ_ONLY: &str = "it is read-only; give this user the right to write the file and its folder";

impl StoreFile {
    pub fn new(path: &Path, options: SqliteOptions) -> StoreFile {
        StoreFile { path: path.to_owned(), options, place: Place(path.display().to_string()) }
    }

    /// The error of the store for an error of SQLite.
    pub fn store_error(&self, error: &rusqlite::Error) -> StoreError {
        use rusqlite::Error as E;
        match error {
            E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::InvalidColumnType(..)
            | E::Utf8Error(..) => {
                return self
                    .place
                    .corrupt(format!("a row holds what this program never writes ({error}); restore the file"));
            }
            _ => {}
        }
        match error.sqlite_error_code() {
            _ if is_locked(error) => {
                let waited = self.options.busy_timeout.as_millis();
                self.place.unavailable(format!("another process has held it locked for longer than {waited} ms; try again"))
            }
            Some(ErrorCode::DiskFull) => self.place.unavailable(DISK_FULL),
            Some(ErrorCode::SystemIoFailure) => self.io_failed(error),
            Some(ErrorCode::OutOfMemory) => self.place.unavailable("there is no memory left"),
            Some(ErrorCode::CannotOpen) => self.cannot_open(),
            Some(ErrorCode::ReadOnly) => self.place.denied(READ_ONLY),
            Some(ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
                self.place.denied("this user has no right to it")
            }
            Some(ErrorCode::NotADatabase) => self.place.corrupt("it is not a SQLite database; give another file"),
            Some(ErrorCode::DatabaseCorrupt) => {
                self.place.corrupt("the database is malformed; restore it, or move it away to start with an empty one")
            }
            _ if lacks_a_part(error) => self.place.corrupt(format!(
                "a part of its schema is missing ({error}); restore the file, or move it away to start with an empty one"
            )),
            _ => self.place.other(error.to_string()),
        }
    }

    /// Why the file should not be opened, before that is tried: see [`refusal_to_read`](StoreFile::refusal_to_read), or this
    /// user may not write it.
    pub fn refusal(&self) -> Option<StoreError> {
        if let Some(refusal) = self.refusal_to_read() {
            return Some(refusal);
        }
        if !system::may_write(&self.path) {
            return Some(self.place.denied(READ_ONLY));
        }
        let beside = ["-wal", "-shm"].map(|suffix| self.beside(suffix));
        let refusing = beside.iter().find(|path| !system::may_read(path) || !system::may_write(path))?;
        let place = refusing.display();
        Some(self.place.denied(format!(
            "this user has no right to read and write {place}; give it the group and the rights of the store, and let the \
             folder hand its group on (chmod g+s)"
        )))
    }

    /// Why the file should not be opened even to read it: it is no file, this user may not read it, or it has two paths.
    /// SQLite's log lies beside the path, so that each path would have a log of its own.
    pub fn refusal_to_read(&self) -> Option<StoreError> {
        let metadata = std::fs::metadata(&self.path).ok()?;
        let kind = metadata.file_type();
        if kind.is_dir() {
            return Some(self.place.denied("it is a directory; give the path of a file"));
        }
        if !kind.is_file() {
            return Some(self.place.denied("it is neither a file nor a directory; give the path of a file"));
        }
        if !system::may_read(&self.path) {
            return Some(self.place.denied("this user has no right to read and write it"));
        }
        if system::is_mount(&self.path) {
            return Some(
                self.place.denied("it is mounted as a single file, without its log beside it; mount its folder"),
            );
        }
        if system::links(&metadata) > 1 {
            return Some(
                self.place.denied("it has a second name (a hard link), and each has its own log; keep one of them"),
            );
        }
        None
    }

    /// SQLite gives no reason; the file system does.
    fn io_failed(&self, error: &rusqlite::Error) -> StoreError {
        if let Some(shortage) = system::shortage(self.folder()) {
            return self.place.unavailable(shortage);
        }
        let hint = system::file_size_limit().map_or_else(
            || "look at the disk".to_owned(),
            |limit| format!("no file may have more than {limit} bytes here (ulimit -f), or look at the disk"),
        );
        self.place.unavailable(format!("reading or writing failed ({error}); {hint}"))
    }

    /// A file that SQLite keeps beside the database.
    pub fn beside(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.as_os_str().to_owned();
        name.push(suffix);
        name.into()
    }

    pub fn folder(&self) -> &Path {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        folder.unwrap_or(Path::new("."))
    }

    /// The error of a file that SQLite cannot open.
    pub fn cannot_open(&self) -> StoreError {
        if self.path.is_relative() && std::env::current_dir().is_err() {
            return self
                .place
                .unavailable("the current folder has been removed; change to another, or give a full path");
        }
        if let Some(refusal) = self.refusal() {
            return refusal;
        }
        let folder = self.folder();
        match std::fs::metadata(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return self.place.unavailable(format!("there is no folder {}; create it", folder.display()));
            }
            Ok(metadata) if !metadata.is_dir() => {
                return self.place.denied(format!("{} is not a folder", folder.display()));
            }
            _ => {}
        }
        if !system::may_write(folder) {
            return self.place.denied("it cannot be opened; this user needs the right to create files in its folder");
        }
        let why = system::shortage(folder).unwrap_or("it cannot be opened, and the system does not say why");
        self.place.unavailable(why)
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
