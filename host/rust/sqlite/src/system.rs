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

    use crate::error::DISK_FULL;

    /// The room that a store needs on its disk, in bytes: what SQLite adds to its files at once.
    const LEAST_ROOM: u64 = 64 << 10;

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

    /// Whether a file is mounted by itself.
    pub fn is_mount(path: &Path) -> bool {
        #[cfg(target_os = "linux")]
        if let Ok(found) = rustix::fs::statx(CWD, path, AtFlags::empty(), rustix::fs::StatxFlags::TYPE) {
            return found.stx_attributes.contains(rustix::fs::StatxAttributes::MOUNT_ROOT);
        }
        let _ = path;
        false
    }

    /// The number of names that a file has.
    pub fn links(metadata: &std::fs::Metadata) -> u64 {
        std::os::unix::fs::MetadataExt::nlink(metadata)
    }

    /// The largest file that this process may write, in bytes, where there is a limit.
    pub fn file_size_limit() -> Option<u64> {
        rustix::process::getrlimit(Resource::Fsize).current
    }

    /// The resource that has run out for files in a folder, if any, and the remedy.
    pub fn shortage(folder: &Path) -> Option<&'static str> {
        // The database, its log and the log's index are closed again by now: there must be room for all three.
        let three = [(); 3].map(|()| std::fs::File::open("/dev/null"));
        match three.iter().find_map(|file| file.as_ref().err()).and_then(Errno::from_io_error) {
            Some(Errno::MFILE) => return Some("this process may open no more files; raise its limit (ulimit -n)"),
            Some(Errno::NFILE) => return Some("the system can open no more files; close some"),
            _ => {}
        }
        let disk = rustix::fs::statvfs(folder).ok()?;
        // A file system without a table of files reports 0 files.
        if disk.f_files > 0 && disk.f_favail == 0 {
            return Some("its disk can hold no more files; remove some");
        }
        (disk.f_bavail.saturating_mul(disk.f_frsize) < LEAST_ROOM).then_some(DISK_FULL)
    }
}

/// On other systems SQLite's own words must do.
#[cfg(not(unix))]
mod other {
    use std::path::Path;

    pub fn may_read(_path: &Path) -> bool {
        true
    }

    pub fn may_write(_path: &Path) -> bool {
        true
    }

    pub fn is_mount(_path: &Path) -> bool {
        false
    }

    pub fn links(_metadata: &std::fs::Metadata) -> u64 {
        1
    }

    pub fn file_size_limit() -> Option<u64> {
        None
    }

    pub fn shortage(_folder: &Path) -> Option<&'static str> {
        None
    }
}
