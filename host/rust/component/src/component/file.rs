//! A file that a user names.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// Returns the bytes of a regular file. A pipe is not waited for, and no device is read to its end.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let refused = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return refused("it is a folder; give a file");
    }
    if !kind.is_file() {
        return refused("it is no regular file; give one");
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return refused("it is larger than 64 MiB");
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests;
