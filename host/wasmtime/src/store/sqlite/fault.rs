//! What SQLite's errors mean to the user.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use rustix::fs::{Access, AtFlags};
use rustix::io::Errno;

use super::{SqliteOptions, StoreError};
use crate::shortage;

/// The file and how it is opened.
#[derive(Debug)]
pub(super) struct Place {
    pub path: PathBuf,
    pub options: SqliteOptions,
}

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

    pub fn fault(&self, error: &rusqlite::Error) -> StoreError {
        use rusqlite::Error as E;
        let code = match error {
            E::FromSqlConversionFailure(..)
            | E::IntegralValueOutOfRange(..)
            | E::InvalidColumnType(..)
            | E::Utf8Error(..) => {
                return self
                    .corrupt(format!("a row holds what this program never wrote there ({error}); restore the file"));
            }
            _ => error.sqlite_error_code(),
        };
        match code {
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
                self.corrupt("the database is malformed; restore it, or move it away to start afresh")
            }
            _ if lacks_a_part(error) => self.corrupt(format!(
                "a part of its schema is missing ({error}); restore the file, or move it away to start afresh"
            )),
            _ => StoreError::Other { place: self.name(), why: error.to_string() },
        }
    }

    /// What speaks against opening the file before that is tried: it is not one, or this user may not read or write it.
    pub fn refused(&self) -> Option<StoreError> {
        let kind = std::fs::metadata(&self.path).ok()?.file_type();
        if kind.is_dir() {
            return Some(self.denied("it is a folder; give the path of a file"));
        }
        if !kind.is_file() {
            return Some(self.denied("it is neither a file nor a folder; give the path of a file"));
        }
        if !may(&self.path, Access::READ_OK) {
            return Some(self.denied("this user has no right to read and write it"));
        }
        (!may(&self.path, Access::WRITE_OK)).then(|| self.denied(READ_ONLY))
    }

    /// SQLite says no more than that; the file system does.
    fn io_failed(&self, error: &rusqlite::Error) -> StoreError {
        if let Some(short) = self.shortage() {
            return self.unavailable(short);
        }
        let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
        let hint = limit.map_or_else(
            || "look at the disk".to_owned(),
            |limit| format!("no file may have more than {limit} bytes here (ulimit -f), or look at the disk"),
        );
        self.unavailable(format!("reading or writing failed ({error}); {hint}"))
    }

    /// What the system has run out of, if it has.
    fn shortage(&self) -> Option<&'static str> {
        if let Some(short) = shortage::of_open_files() {
            return Some(short);
        }
        let left = rustix::fs::statvfs(self.folder()).ok()?;
        // A system without a table of files tells none at all.
        if left.f_files > 0 && left.f_favail == 0 {
            return Some("its disk can hold no more files; remove some");
        }
        (left.f_bavail.saturating_mul(left.f_frsize) < LEAST_ROOM).then_some(DISK_FULL)
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
        if let Some(refused) = self.refused() {
            return refused;
        }
        let folder = self.folder();
        match std::fs::metadata(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return self.unavailable(format!("there is no folder {}; create it", folder.display()));
            }
            Ok(metadata) if !metadata.is_dir() => {
                return self.denied(format!("{} is not a folder", folder.display()));
            }
            _ => {}
        }
        match std::fs::metadata(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                self.denied("this user has no right to look into its folder")
            }
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                self.unavailable(format!("it cannot be opened ({error})"))
            }
            _ if !may(folder, Access::WRITE_OK) => {
                self.denied("it cannot be opened; this user needs the right to create files in its folder")
            }
            _ => self.unavailable(self.shortage().unwrap_or("it cannot be opened, and the system does not say why")),
        }
    }
}

/// Whether a table or a column is missing that the schema's version says is there. SQLite has no code of its own for that.
fn lacks_a_part(error: &rusqlite::Error) -> bool {
    let message = match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        _ => return false,
    };
    ["no such table", "no such column", "has no column named"].iter().any(|part| message.contains(part))
}

const DISK_FULL: &str = "the disk is full; free some space";

/// With less room on its disk a store cannot work, in bytes: what SQLite adds to its files at once.
const LEAST_ROOM: u64 = 64 << 10;

const READ_ONLY: &str = "it is read-only; give this user the right to write the file and its folder";

/// Whether this user may do that. The file is not opened for it: closing a file ends the locks that this process has on it,
/// through whatever connection.
fn may(path: &Path, access: Access) -> bool {
    !matches!(
        rustix::fs::accessat(rustix::fs::CWD, path, access, AtFlags::EACCESS),
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS)
    )
}
