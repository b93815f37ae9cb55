//! Which file a connection has open: its path may lead to another by now, or to none.

use std::ops::Deref;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::config::DbConfig;

/// A file, whatever its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    number: u64,
}

impl Identity {
    /// That of the file at a path; none where there is none.
    #[cfg(unix)]
    pub fn of(path: &Path) -> Option<Identity> {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = std::fs::metadata(path).ok()?;
        Some(Identity { device: metadata.dev(), number: metadata.ino() })
    }

    /// Elsewhere a file that is open cannot be removed.
    #[cfg(not(unix))]
    pub fn of(path: &Path) -> Option<Identity> {
        path.exists().then_some(Identity { device: 0, number: 0 })
    }
}

/// A connection, and the file it has open.
#[derive(Debug)]
pub(super) struct Opened {
    connection: Connection,
    path: PathBuf,
    identity: Option<Identity>,
}

impl Opened {
    /// A connection that has just been opened.
    pub fn new(connection: Connection, path: &Path) -> Opened {
        Opened { connection, path: path.to_owned(), identity: Identity::of(path) }
    }

    pub fn identity(&self) -> Option<Identity> {
        self.identity
    }

    /// Whether the file is still the one that others find at the path.
    pub fn is_at_its_path(&self) -> bool {
        self.identity.is_some() && self.identity == Identity::of(&self.path)
    }
}

impl Deref for Opened {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // The last connection to a file removes its log, by its name: that may be the log of the file that has come in its
        // place.
        if !self.is_at_its_path() {
            let _ = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
    }
}
