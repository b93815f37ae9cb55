//! What the unit tests share.

use std::path::{Path, PathBuf};

/// A folder that is removed when it goes out of scope.
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub fn new() -> Self {
        let name = format!("halfopen-{}-{:016x}", std::process::id(), fastrand::u64(..));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        TempDir(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
