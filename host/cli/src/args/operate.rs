//! The commands of operators.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::values::duration;

#[derive(Debug, Args)]
pub struct Status {
    /// The dependency to show in detail; all dependencies if left out
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: Option<String>,

    /// Print one line of JSON: an array, or an object for one dependency
    ///
    /// "at", "since" and "next_due" are instants, in milliseconds since 1970-01-01 UTC; every key that ends in "_ms" is a
    /// length of time in milliseconds. "calls", "failures" and "slow" count the window as it is now. "last_change" is the
    /// last change of state. A value that does not apply is null. A record that cannot be read has "dependency" and "error"
    /// only.
    #[arg(long)]
    pub json: bool,

    /// Repeat at this interval ("500ms"; 1s if left out) until interrupted
    #[arg(long, value_name = "INTERVAL", value_parser = duration, num_args = 0..=1, default_missing_value = "1s")]
    #[arg(require_equals = true)]
    pub watch: Option<Duration>,
}

#[derive(Debug, Args)]
pub struct History {
    /// The dependency whose changes of state to show
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: String,

    /// The number of entries to show, the newest ones
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: usize,

    /// Print one line of JSON for each entry; "at" is in milliseconds since 1970-01-01 UTC
    #[arg(long)]
    pub json: bool,
}

/// The operator who acts, and the reason; status and history show both.
#[derive(Debug, Args)]
pub struct Acting {
    /// The operator, shown by status and history [default: USER@HOST]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,

    /// The reason, shown by status and history (at most 128 bytes)
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub note: String,
}

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Show the policy of a dependency, as a file that "policy set" takes
    Show {
        /// The dependency whose policy to show; the default policy if left out
        #[arg(value_name = "DEPENDENCY")]
        dependency: Option<String>,
        /// Print JSON; every "..._ms" is in milliseconds, as in policy files
        #[arg(long)]
        json: bool,
    },
    /// Give a dependency a custom policy
    ///
    /// A file (TOML or JSON) is a whole policy: a key left out has its built-in default. KEY=VALUE changes a key of the
    /// policy in force, or of the file: open_ms=10000, open=10s, failure_rate.percent=20, window.calls=100, slow_calls=off.
    Set {
        /// The dependency that gets the policy
        #[arg(value_name = "DEPENDENCY")]
        dependency: String,
        /// A policy file, then any number of KEY=VALUE
        #[arg(value_name = "FILE | KEY=VALUE", required = true, num_args = 1..)]
        changes: Vec<String>,
        #[command(flatten)]
        acting: Acting,
    },
    /// Remove the custom policy of a dependency, so that it has the default policy again
    Unset {
        /// The dependency whose custom policy to remove
        #[arg(value_name = "DEPENDENCY")]
        dependency: String,
        #[command(flatten)]
        acting: Acting,
    },
}

#[derive(Debug, Args)]
pub struct Force {
    /// The dependency to force
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: String,

    /// The state to force
    #[arg(value_enum, value_name = "STATE")]
    pub mode: ForceMode,

    /// The time after which the override ends by itself ("10m"); without it, the override stays until it is removed
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub lasting: Option<Duration>,

    #[command(flatten)]
    pub acting: Acting,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum ForceMode {
    /// All calls are deferred
    Open,
    /// All calls are admitted; outcomes are counted and never trip
    Closed,
    /// The override is removed; after "open" a probe is due at once
    None,
}

#[derive(Debug, Args)]
pub struct Reset {
    /// The dependency to reset
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: String,

    #[command(flatten)]
    pub acting: Acting,
}

#[derive(Debug, Args)]
pub struct Forget {
    /// The dependency to remove
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: String,

    #[command(flatten)]
    pub acting: Acting,
}

/// Remove the records of dependencies that are no longer used
///
/// A record is removed only while it is closed, without an override and without a custom policy, and only if nothing was
/// written to it for the given time. A dependency that is used again starts with a new record.
#[derive(Debug, Args)]
pub struct Prune {
    /// The shortest time without a write ("30d") after which a record is removed
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub idle: Duration,

    /// The operator, shown by the stream of events [default: USER@HOST]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
}
