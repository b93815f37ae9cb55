//! Why a command could not be started, with the exit code that shells give.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::exit::Code;
use crate::shell::text;

/// The exit code, and the reason.
pub fn explained(name: &OsStr, error: &io::Error) -> (Code, String) {
    if error.kind() != io::ErrorKind::NotFound {
        return (Code::CannotExecute, error.to_string());
    }
    // The system has one error for a missing file and for a missing interpreter.
    let Some(file) = found(name) else {
        return (Code::NotFound, "not found; give a full path, or see PATH".to_owned());
    };
    let why = match interpreter(&file) {
        Some(interpreter) => {
            format!("its interpreter {:?} is not found; see its first line", text::shortened(&interpreter))
        }
        None => "the program that loads it is not found; it may be built for another system".to_owned(),
    };
    (Code::CannotExecute, why)
}

/// The file with that name, on the PATH where the name has no slash.
fn found(name: &OsStr) -> Option<PathBuf> {
    let path = Path::new(name);
    if name.as_bytes().contains(&b'/') {
        return path.is_file().then(|| path.to_owned());
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The interpreter that the first line of a script names.
fn interpreter(file: &Path) -> Option<String> {
    // No system reads more than these bytes.
    let mut start = Vec::new();
    File::open(file).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    String::from_utf8_lossy(line).split_whitespace().next().map(str::to_owned)
}
