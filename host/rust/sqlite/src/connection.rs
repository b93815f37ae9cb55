//! A connection and the file that it has open. The path may lead to another file by now, or to none.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;

/// A file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileIdentity {
    device: u64,
    number: u64,
}

impl FileIdentity {
    /// The identity of the file at a path; none where there is no file.
    #[cfg(unix)]
    fn of(path: &Path) -> Option<FileIdentity> {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = std::fs::metadata(path).ok()?;
        Some(FileIdentity { device: metadata.dev(), number: metadata.ino() })
    }

    /// On other systems an open file cannot be removed.
    #[cfg(not(unix))]
    fn of(path: &Path) -> Option<FileIdentity> {
        path.exists().then_some(FileIdentity { device: 0, number: 0 })
    }
}

/// A connection to a file.
#[derive(Debug)]
pub(crate) struct Connection {
    inner: rusqlite::Connection,
    path: PathBuf,
    identity: Option<FileIdentity>,
}

impl Connection {
    /// A connection that has just been opened.
    pub fn new(inner: rusqlite::Connection, path: &Path) -> Connection {
        Connection { inner, path: path.to_owned(), identity: FileIdentity::of(path) }
    }

    /// Whether the file is still the one at the path.
    pub fn is_at_its_path(&self) -> bool {
        self.identity.is_some() && self.identity == FileIdentity::of(&self.path)
    }
}

impl Deref for Connection {
    type Target = rusqlite::Connection;

    fn deref(&self) -> &rusqlite::Connection {
        &self.inner
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The last connection to a file removes its log, by name: that may be the log of a new file at the same path.
        if !self.is_at_its_path() {
            let _ = self.inner.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
    }
}
