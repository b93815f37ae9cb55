//! `halfopen replay`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

/// Run replay files and check their expectations.
///
/// A replay file is JSON Lines: a first line {"scenario": "..."} and then one step a line, on a virtual clock. Each file
/// runs in an empty namespace of its own that is removed afterwards: in memory, unless --store is given. --namespace and
/// --default-policy have no effect: the file, or the built-in default, decides. Exit code: 0 when all expectations hold, 1
/// when one does not, 2 for a file that is not well-formed; with several files the highest.
#[derive(Debug, Args)]
pub struct Replay {
    /// The replay files; "-" is the standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// The engine that runs the steps
    #[arg(long, value_enum, value_name = "ENGINE", default_value_t)]
    pub engine: EngineChoice,

    /// Print no answers, only expectations that do not hold and the totals
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
pub enum EngineChoice {
    /// The same rules, linked into the program
    Native,
    /// The WebAssembly component
    #[default]
    Component,
}
