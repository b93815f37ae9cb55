//! The program's output on stdout and stderr.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};

use anyhow::Context as _;
use clap::ColorChoice;
use serde::Serialize;

use super::text;

/// The version of the JSON that the program prints. A key may be added without a new version.
const JSON_VERSION: u32 = 1;

/// Writes a line to stdout.
pub fn line(text: impl Display) -> anyhow::Result<()> {
    // In one write: other processes may write to the same file.
    let line = format!("{text}\n");
    written(io::stdout().write_all(line.as_bytes()))
}

/// Writes a document as a line of JSON, with the version first.
pub fn json(document: impl Serialize) -> anyhow::Result<()> {
    #[derive(Serialize)]
    struct Versioned<T> {
        version: u32,
        #[serde(flatten)]
        document: T,
    }
    line(text::json(&Versioned { version: JSON_VERSION, document })?)
}

/// The result of writing to stdout, with an error that names it.
pub fn written<T>(result: io::Result<T>) -> anyhow::Result<T> {
    result.context("cannot write to the standard output")
}

/// Writes a line with the program's name to stderr. A closed stderr is no error.
pub fn note(message: impl Display) {
    let line = format!("halfopen: {}\n", text::escape(&message.to_string()));
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Whether stdout gets colours. `Auto` heeds the terminal, `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE`.
pub fn has_colours(choice: ColorChoice) -> bool {
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
    }
}

/// The columns of a line: those of `COLUMNS` or of the terminal; none where the output is no terminal.
pub fn width() -> Option<usize> {
    let given = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    given.or_else(|| terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into()))
}

/// The lines of the terminal; none where the output is no terminal.
pub fn height() -> Option<usize> {
    let lines = || terminal_size::terminal_size_of(io::stdout()).map_or(24, |(_, height)| height.0.into());
    io::stdout().is_terminal().then(lines)
}
