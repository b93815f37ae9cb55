//! `halfopen status`, `history` and `list`.

use std::time::Duration;

use clap::{Args, ColorChoice, ValueEnum};

use super::Format;
use super::values::duration;

#[derive(Debug, Args)]
pub struct Status {
    /// The dependencies to show: a name, in detail, or names and patterns such as "pay*"; all if left out
    #[arg(value_name = "DEPENDENCY")]
    pub dependencies: Vec<String>,

    /// Show only dependencies in one of these states
    #[arg(long, value_enum, value_name = "STATE", value_delimiter = ',')]
    pub state: Vec<Shown>,

    /// Show only dependencies that are not closed, or forced, or unreadable
    #[arg(long)]
    pub problems: bool,

    /// Show the dependencies of all namespaces
    #[arg(long)]
    pub all_namespaces: bool,

    /// End with 1 where a dependency that is shown is open, forced or unreadable
    #[arg(long)]
    pub check: bool,

    /// When to use colours; "auto" uses them on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub color: ColorChoice,

    /// Repeat at this interval ("--watch=500ms"; 1s if left out) until interrupted
    #[arg(long, value_name = "INTERVAL", value_parser = duration, num_args = 0..=1, default_missing_value = "1s")]
    #[arg(require_equals = true)]
    pub watch: Option<Duration>,

    #[command(flatten)]
    pub format: Format,
}

/// The dependencies that `--state` shows.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Shown {
    Open,
    HalfOpen,
    Closed,
    /// With an override, open or closed
    Forced,
}

#[derive(Debug, Args)]
pub struct History {
    /// The dependency whose entries to show, or a pattern such as "pay*"; all dependencies if left out
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: Option<String>,

    /// The number of entries to show, the newest ones
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: usize,

    /// Show only entries that are not older than this ("1h")
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub since: Option<Duration>,

    /// Then show new entries as they come, until interrupted
    #[arg(long, short)]
    pub follow: bool,

    #[command(flatten)]
    pub format: Format,
}

#[derive(Debug, Args)]
pub struct List {
    /// The dependencies to list, by a pattern such as "pay*"; all if left out
    #[arg(value_name = "PATTERN")]
    pub dependency: Option<String>,

    #[command(flatten)]
    pub format: Format,
}
