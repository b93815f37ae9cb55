//! Where the program writes.

use std::fmt::Display;
use std::io::{self, Write as _};

use anyhow::Context as _;

use crate::text;

/// Writes a line to stdout.
pub fn line(text: impl Display) -> anyhow::Result<()> {
    written(writeln!(io::stdout(), "{text}"))
}

/// What came of writing to stdout, as an error that says so.
pub fn written<T>(came_to: io::Result<T>) -> anyhow::Result<T> {
    came_to.context("cannot write to the standard output")
}

/// Writes a line to stderr, as the program's own. That stderr is closed is no reason to fail.
pub fn note(message: impl Display) {
    let message = message.to_string();
    let _ = writeln!(io::stderr(), "halfopen: {}", text::escape(&message));
}
