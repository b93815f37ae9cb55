//! Compiled code in files, so that a new process starts in a millisecond.
//!
//! Compiled code is run as it is, so a file is only trusted in a folder that belongs to this user and that nobody else can
//! write. Whatever stands in the way, the code is compiled anew: the cache is never needed.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use wasmtime::Engine;
use wasmtime::component::Component as Code;

use crate::component::hex;

pub(crate) fn load(engine: &Engine, sha256: &[u8; 32]) -> Option<Code> {
    let bytes = files::read(&name(engine, sha256))?;
    // SAFETY: the bytes were written by `save`, for this very engine and component, into a file that nobody but this
    // user could write, and were checked to be whole.
    match unsafe { Code::deserialize(engine, &bytes) } {
        Ok(code) => Some(code),
        Err(error) => {
            tracing::debug!(%error, "compiled code is not used");
            None
        }
    }
}

pub(crate) fn save(engine: &Engine, sha256: &[u8; 32], code: &Code) {
    match code.serialize() {
        Ok(bytes) => files::write(&name(engine, sha256), &bytes),
        Err(error) => tracing::debug!(%error, "compiled code is not kept"),
    }
}

fn name(engine: &Engine, sha256: &[u8; 32]) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{}-{:016x}.cwasm", hex(sha256), hasher.finish())
}

#[cfg(unix)]
mod files {
    use std::fs::{self, DirBuilder, File, OpenOptions};
    use std::io::{self, Read, Write};
    use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
    use std::path::{Path, PathBuf};

    use etcetera::BaseStrategy;
    use sha2::{Digest, Sha256};

    /// A file is the SHA-256 of the rest, and the rest: a file cut short by a full disk is not run.
    const HASH: usize = 32;

    /// So many files are kept: some releases of this crate, and some components of the user's own.
    pub(super) const MOST: usize = 16;

    pub fn read(name: &str) -> Option<Vec<u8>> {
        let folder = folder()?;
        read_from(&folder, name).map_err(|error| tracing::debug!(%error, "no compiled code to use")).ok()
    }

    pub fn write(name: &str, bytes: &[u8]) {
        let Some(folder) = folder() else { return };
        if let Err(error) = write_to(&folder, name, bytes) {
            tracing::debug!(%error, "compiled code is not kept");
        }
    }

    fn folder() -> Option<PathBuf> {
        Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("halfopen"))
    }

    pub(super) fn read_from(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
        trusted(&fs::symlink_metadata(folder)?, true)?;
        let mut file = File::open(folder.join(name))?;
        trusted(&file.metadata()?, false)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        match bytes.split_at_checked(HASH) {
            Some((hash, code)) if *hash == *Sha256::digest(code) => Ok(bytes.split_off(HASH)),
            _ => Err(io::Error::new(io::ErrorKind::InvalidData, "a file of compiled code is not whole")),
        }
    }

    pub(super) fn write_to(folder: &Path, name: &str, code: &[u8]) -> io::Result<()> {
        if let Some(parent) = folder.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
        }
        match DirBuilder::new().mode(0o700).create(folder) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => trusted(&fs::symlink_metadata(folder)?, true)?,
        }
        // Under a name of its own first: other processes see the whole file or none.
        let draft = folder.join(format!(".{name}.{:016x}", fastrand::u64(..)));
        let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).and_then(|mut file| {
            file.write_all(&Sha256::digest(code))?;
            file.write_all(code)?;
            fs::rename(&draft, folder.join(name))
        });
        match written {
            Ok(()) => prune(folder),
            Err(error) => {
                let _ = fs::remove_file(&draft);
                Err(error)
            }
        }
    }

    /// Removes the oldest files where there are too many, and drafts that a crash left behind among them.
    fn prune(folder: &Path) -> io::Result<()> {
        let mut files: Vec<_> = fs::read_dir(folder)?
            .flatten()
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .collect();
        files.sort_unstable();
        let surplus = files.len().saturating_sub(MOST);
        // Another process may have removed one already.
        files.iter().take(surplus).for_each(|(_, path)| drop(fs::remove_file(path)));
        Ok(())
    }

    fn trusted(metadata: &fs::Metadata, folder: bool) -> io::Result<()> {
        let kind = if folder { metadata.is_dir() } else { metadata.is_file() };
        let own = metadata.uid() == rustix::process::geteuid().as_raw();
        let private = metadata.mode() & if folder { 0o077 } else { 0o022 } == 0;
        if kind && own && private {
            return Ok(());
        }
        let why = "compiled code is only kept in a folder of this user's own that nobody else can enter";
        Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
    }
}

#[cfg(not(unix))]
mod files {
    // Who may write to a folder is not looked into on this system, so nothing is kept.
    pub fn read(_name: &str) -> Option<Vec<u8>> {
        None
    }

    pub fn write(_name: &str, _bytes: &[u8]) {}
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::files::{MOST, read_from, write_to};
    use crate::testing::TempDir;

    #[test]
    fn what_was_written_is_read_back_and_only_the_user_can_enter_the_folder() {
        let temp = TempDir::new();
        let folder = temp.path().join("cache/halfopen");
        write_to(&folder, "a.cwasm", b"code").unwrap();
        assert_eq!(read_from(&folder, "a.cwasm").unwrap(), b"code");
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "a draft was left behind");
    }

    #[test]
    fn only_so_many_files_are_kept_and_the_newest_is_among_them() {
        let temp = TempDir::new();
        let folder = temp.path().join("halfopen");
        for number in 0..MOST + 5 {
            write_to(&folder, &format!("{number}.cwasm"), b"code").unwrap();
            // So that the files differ in age whatever the file system's clock resolves.
            let old = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number as u64);
            fs::File::open(folder.join(format!("{number}.cwasm"))).unwrap().set_modified(old).unwrap();
        }
        write_to(&folder, "newest.cwasm", b"code").unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), MOST);
        assert!(read_from(&folder, "newest.cwasm").is_ok());
        assert!(read_from(&folder, "0.cwasm").is_err());
    }

    #[test]
    fn a_folder_that_others_can_write_is_not_trusted() {
        let temp = TempDir::new();
        let folder = temp.path().join("halfopen");
        write_to(&folder, "a.cwasm", b"code").unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(read_from(&folder, "a.cwasm").is_err());
        assert!(write_to(&folder, "b.cwasm", b"code").is_err());
    }

    #[test]
    fn a_link_in_place_of_the_folder_is_not_followed() {
        let temp = TempDir::new();
        let real = temp.path().join("real");
        write_to(&real, "a.cwasm", b"code").unwrap();
        let link = temp.path().join("halfopen");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(read_from(&link, "a.cwasm").is_err());
    }

    #[test]
    fn a_file_that_is_cut_or_altered_is_not_run() {
        let temp = TempDir::new();
        let folder = temp.path().join("halfopen");
        write_to(&folder, "a.cwasm", b"code").unwrap();
        let file = folder.join("a.cwasm");
        let whole = fs::read(&file).unwrap();
        for damaged in [&whole[..10], &whole[..whole.len() - 1], &[whole.as_slice(), b"x"].concat()] {
            fs::write(&file, damaged).unwrap();
            assert!(read_from(&folder, "a.cwasm").is_err(), "{} bytes", damaged.len());
        }
    }
}
