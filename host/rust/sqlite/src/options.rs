use std::time::Duration;

/// When a commit counts as durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Synchronous {
    /// When it is on the disk: it survives a crash of the machine. The default.
    #[default]
    Full,
    /// When the operating system has it: it survives a crash of the process; a crash of the machine may undo the newest
    /// commits. It spares the wait for the disk.
    Normal,
}

/// How a SQLite store is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// When a commit counts as durable.
    pub synchronous: Synchronous,
    /// The time to wait while another process holds the file locked, at most. Default 5 s.
    pub busy_timeout: Duration,
    /// Whether the store only reads: then a user without the right to write the file may open it, also on a full disk; a
    /// missing file is not created, and reads as a store without records. Default false.
    pub read_only: bool,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        SqliteOptions { synchronous: Synchronous::Full, busy_timeout: Duration::from_secs(5), read_only: false }
    }
}
