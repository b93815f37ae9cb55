//! Files of this user's own, in a folder that no other user can enter: written whole or not at all, and only trusted where
//! no other user can have written them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use sha2::{Digest, Sha256};

/// A file begins with the SHA-256 of the rest: one that is cut short by a full disk is not used.
const HASH: usize = 32;

/// Returns the content of a file.
pub fn read(folder: &Path, name: &str) -> io::Result<Vec<u8>> {
    trusted(folder, &fs::symlink_metadata(folder)?, true)?;
    // A link is not followed, and a pipe is not waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = folder.join(name);
    let mut file = File::from(rustix::fs::open(&place, flags, Mode::empty())?);
    trusted(&place, &file.metadata()?, false)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    match bytes.split_at_checked(HASH) {
        Some((hash, content)) if *hash == *Sha256::digest(content) => Ok(bytes.split_off(HASH)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidData, "it is not whole")),
    }
}

/// Writes a file, and makes the folder where it is missing. Where it then holds more than `most` files, the oldest are
/// removed.
pub fn write(folder: &Path, name: &str, content: &[u8], most: usize) -> io::Result<()> {
    if let Some(parent) = folder.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => trusted(folder, &fs::symlink_metadata(folder)?, true)?,
    }
    // Under another name first: other processes see the whole file or none.
    let (draft, place) = (folder.join(format!(".{name}.{:016x}", fastrand::u64(..))), folder.join(name));
    let is_new = !place.exists();
    let written = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft).and_then(|mut file| {
        file.write_all(&Sha256::digest(content))?;
        file.write_all(content)?;
        fs::rename(&draft, place)
    });
    match written {
        Ok(()) if is_new => prune(folder, most),
        Ok(()) => Ok(()),
        Err(error) => {
            let _ = fs::remove_file(&draft);
            Err(error)
        }
    }
}

/// Removes the oldest files where there are too many; drafts that a crash left behind are among them.
fn prune(folder: &Path, most: usize) -> io::Result<()> {
    let mut files: Vec<_> = fs::read_dir(folder)?
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    let surplus = files.len().saturating_sub(most);
    if surplus > 0 {
        files.sort_unstable();
    }
    // Another process may have removed one already.
    files.iter().take(surplus).for_each(|(_, path)| drop(fs::remove_file(path)));
    Ok(())
}

/// Refuses a folder or a file that another user can have written; the error says what to do.
fn trusted(place: &Path, metadata: &fs::Metadata, folder: bool) -> io::Result<()> {
    let (kind, is_kind, others, mode) = if folder {
        ("folder", metadata.is_dir(), 0o077, "700")
    } else {
        ("regular file", metadata.is_file(), 0o022, "600")
    };
    let place = place.display();
    let why = if !is_kind {
        format!("{place} is no {kind}; remove it")
    } else if metadata.uid() != rustix::process::geteuid().as_raw() {
        format!("{place} is another user's; remove it")
    } else if metadata.mode() & others != 0 {
        format!("others have access to {place}; `chmod {mode} {place}`")
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

#[cfg(test)]
mod tests;
