//! A connection and the file that it has open. The path may lead to another file by now, or to none.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use file_id::{FileId, get_file_id};
use rusqlite::config::DbConfig;

/// A connection to a file.
#[derive(Debug)]
pub(crate) struct Connection {
    inner: rusqlite::Connection,
    path: PathBuf,
    file: Option<FileId>,
}

impl Connection {
    /// A connection that has just been opened.
    pub fn new(inner: rusqlite::Connection, path: &Path) -> Connection {
        Connection { inner, path: path.to_owned(), file: get_file_id(path).ok() }
    }

    /// A connection that is not used again.
    pub fn for_one_read(inner: rusqlite::Connection) -> Connection {
        Connection { inner, path: PathBuf::new(), file: None }
    }

    /// Whether the file is still the one at the path.
    pub fn is_at_its_path(&self) -> bool {
        self.file.is_some() && self.file == get_file_id(&self.path).ok()
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
