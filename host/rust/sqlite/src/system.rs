//! What the operating system says: this user's rights, and what has run out.

#[cfg(not(unix))]
pub(crate) use other::*;
#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(unix)]
mod unix {
    use std::path::Path;

    use rustix::fs::{Access, AtFlags, CWD};
    use rustix::io::Errno;
    use rustix::process::Resource;

    pub fn may_read(path: &Path) -> bool {
        may(path, Access::READ_OK)
    }

    pub fn may_write(path: &Path) -> bool {
        may(path, Access::WRITE_OK)
    }

    /// The file is not opened for this: closing a file ends all locks of this process on it.
    fn may(path: &Path, access: Access) -> bool {
        let result = rustix::fs::accessat(CWD, path, access, AtFlags::EACCESS);
        !matches!(result, Err(Errno::ACCESS | Errno::PERM | Errno::ROFS))
    }

    /// The largest file that this process may write, in bytes, where there is a limit.
    pub fn file_size_limit() -> Option<u64> {
        rustix::process::getrlimit(Resource::Fsize).current
    }

    /// The limit on open files that this process has reached, if any, and the remedy.
    pub fn fd_limit() -> Option<&'static str> {
        let error = std::fs::File::open("/dev/null").err()?;
        match Errno::from_io_error(&error)? {
            Errno::MFILE => Some("this process may open no more files; raise its limit (ulimit -n)"),
            Errno::NFILE => Some("the system can open no more files; close some"),
            _ => None,
        }
    }

    /// The free bytes of the disk of a folder, and whether it can hold more files.
    pub fn room(folder: &Path) -> Option<(u64, bool)> {
        let disk = rustix::fs::statvfs(folder).ok()?;
        // A file system without a table of files reports 0 files.
        let more_files = disk.f_files == 0 || disk.f_favail > 0;
        Some((disk.f_bavail.saturating_mul(disk.f_frsize), more_files))
    }
}

/// On other systems SQLite's own words must do.
#[cfg(not(unix))]
mod other {
    use std::path::Path;

    pub fn may_read(_path: &Path) -> bool {
        true
    }

    pub fn may_write(path: &Path) -> bool {
        !std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.permissions().readonly())
    }

    pub fn file_size_limit() -> Option<u64> {
        None
    }

    pub fn fd_limit() -> Option<&'static str> {
        None
    }

    pub fn room(_folder: &Path) -> Option<(u64, bool)> {
        None
    }
}
