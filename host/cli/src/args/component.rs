//! `halfopen component`.

use std::path::PathBuf;

use clap::{Subcommand, ValueHint};

use super::Format;

#[derive(Debug, Subcommand)]
pub enum ComponentCommand {
    /// Show a component's size, SHA-256, imports and exports (the default)
    Show {
        /// The component's file; the component in use if left out
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
        #[command(flatten)]
        format: Format,
    },
    /// Write the built-in component to a file
    Write {
        /// The file to write; "-" is the standard output
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Replace the file if it exists
        #[arg(long)]
        force: bool,
    },
}
