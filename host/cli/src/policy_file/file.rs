//! The text of a policy file: a regular file of at most 1 MiB.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::exit::{Code, Failure};

/// The largest file that is read, in bytes. A policy has a few hundred.
const LARGEST: u64 = 1 << 20;

/// The text of a file.
pub fn read(path: &Path) -> anyhow::Result<String> {
    let place = path.display();
    let no_input = |why: String| Failure::error(Code::NoInput, format!("cannot use the policy file {place}: {why}"));
    let unreadable = |error: io::Error| no_input(error.to_string());
    // Opened without blocking: a pipe without a writer would block the open.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(unreadable)?;
    let kind = file.metadata().map_err(unreadable)?.file_type();
    if !kind.is_file() {
        let why = if kind.is_dir() { "it is a directory" } else { "it is not a regular file" };
        return Err(no_input(format!("{why}; give a TOML or JSON file")));
    }
    let mut bytes = Vec::new();
    file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > LARGEST {
        return Err(Failure::error(Code::Data, format!("policy file {place}: it is larger than 1 MiB")));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::error(Code::Data, format!("policy file {place}: it is not UTF-8")))?;
    // Some editors begin a file with a byte order mark.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
