//! The screen of a status.

use std::io::Write as _;

use crate::args::Status;
use crate::shell::output::{height, line, written};

/// Clears a terminal and moves the cursor to its top.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

/// Writes a screen; a watched one at the top of the terminal, as many lines as it has.
pub fn show(args: &Status, mut lines: Vec<String>) -> anyhow::Result<()> {
    let Some(height) = height().filter(|_| args.watch.is_some()) else { return line(lines.join("\n")) };
    let most = height.saturating_sub(2).max(1);
    if lines.len() > most {
        let more = lines.len() - most;
        lines.truncate(most);
        lines.push(format!("... and {more} more"));
    }
    let screen = format!("{CLEAR}{}\n", lines.join("\n"));
    written(std::io::stdout().write_all(screen.as_bytes()))
}
