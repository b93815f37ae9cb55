//! The program's lines on stdout and stderr.

use std::fmt::Display;
use std::io::{self, Write as _};

use anyhow::Context as _;

use super::text;

/// Writes a line to stdout.
pub fn line(text: impl Display) -> anyhow::Result<()> {
    written(writeln!(io::stdout(), "{text}"))
}

/// The result of writing to stdout, with an error that names it.
pub fn written<T>(result: io::Result<T>) -> anyhow::Result<T> {
    result.context("cannot write to the standard output")
}

/// Writes a line with the program's name to stderr. A closed stderr is no error.
pub fn note(message: impl Display) {
    let message = message.to_string();
    let _ = writeln!(io::stderr(), "halfopen: {}", text::escape(&message));
}
