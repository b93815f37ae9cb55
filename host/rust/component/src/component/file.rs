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
mod tests {
    use super::*;

    #[test]
    fn a_folder_and_a_device_are_refused_without_a_wait() {
        for path in ["/", "/dev/zero"] {
            assert_eq!(read(Path::new(path)).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{path}");
        }
        assert_eq!(read(Path::new("/nowhere")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
