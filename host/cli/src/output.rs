//! Where the program writes.

use std::fmt::Display;
use std::io::{self, Write as _};

use crate::text;

/// Writes a line to stdout.
pub fn line(text: impl Display) -> io::Result<()> {
    writeln!(io::stdout(), "{text}")
}

/// Writes a line to stderr, as the program's own. That stderr is closed is no reason to fail.
pub fn note(message: impl Display) {
    let message = message.to_string();
    let _ = writeln!(io::stderr(), "halfopen: {}", text::escape(&message));
}
