//! The commands that change records and policies.

use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::Format;
use super::values::duration;

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

/// The dependencies of an act.
#[derive(Debug, Args)]
pub struct Target {
    /// The dependency, or a pattern such as "pay*" for all that match
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: String,

    #[command(flatten)]
    pub caution: Caution,

    #[command(flatten)]
    pub acting: Acting,

    #[command(flatten)]
    pub format: Format,
}

/// What comes before an act on several dependencies.
#[derive(Debug, Args)]
pub struct Caution {
    /// Do not ask before an act on all that match a pattern
    #[arg(long, short)]
    pub yes: bool,

    /// Show what would be done, and do nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct Force {
    #[command(flatten)]
    pub target: Target,

    /// The state to force
    #[arg(value_enum, value_name = "STATE")]
    pub mode: ForceMode,

    /// The time after which the override ends by itself ("10m"); without it, the override stays until it is removed
    #[arg(long, visible_alias = "for", value_name = "DURATION", value_parser = duration)]
    pub lasting: Option<Duration>,

    #[command(flatten)]
    pub new: New,
}

/// A name without a record.
#[derive(Debug, Args)]
pub struct New {
    /// Accept a new name although a similar one exists
    #[arg(long)]
    pub create: bool,
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

/// Remove the records of dependencies that are no longer used
///
/// A record is removed only while it is closed, without an override and without a custom policy, and only if nothing was
/// written to it for the given time. A dependency that is used again starts with a new record.
#[derive(Debug, Args)]
pub struct Prune {
    /// The dependencies to examine, by a pattern such as "job-*"; all if left out
    #[arg(value_name = "PATTERN")]
    pub dependency: Option<String>,

    /// The shortest time without a write ("30d") after which a record is removed
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub idle: Duration,

    /// The operator, shown by the stream of events [default: USER@HOST]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,

    #[command(flatten)]
    pub caution: Caution,

    #[command(flatten)]
    pub format: Format,
}

#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Show the policy of a dependency, as a file that "policy set" takes
    Show {
        /// The dependency whose policy to show; the default policy if left out
        #[arg(value_name = "DEPENDENCY")]
        dependency: Option<String>,
        /// Show a preset instead
        #[arg(long, value_enum, value_name = "PRESET", conflicts_with = "dependency")]
        preset: Option<Preset>,
        #[command(flatten)]
        format: Format,
    },
    /// Give a dependency a custom policy
    ///
    /// A file (TOML or JSON) and a preset are whole policies: a key left out has its built-in default. KEY=VALUE changes a key
    /// of the policy in force, of the file or of the preset: open=15m, open_ms=10000, failure_rate.percent=20,
    /// window.calls=100, slow_calls=off.
    Set {
        /// The dependency that gets the policy
        #[arg(value_name = "DEPENDENCY")]
        dependency: String,
        /// A policy file, then any number of KEY=VALUE
        #[arg(value_name = "FILE | KEY=VALUE", required_unless_present = "preset")]
        changes: Vec<String>,
        /// Begin with the policy for a kind of caller; "policy show --preset" shows it
        #[arg(long, value_enum, value_name = "PRESET")]
        preset: Option<Preset>,
        #[command(flatten)]
        new: New,
        #[command(flatten)]
        acting: Acting,
        #[command(flatten)]
        format: Format,
    },
    /// Remove the custom policy of a dependency, so that it has the default policy again
    Unset {
        /// The dependency whose custom policy to remove
        #[arg(value_name = "DEPENDENCY")]
        dependency: String,
        #[command(flatten)]
        acting: Acting,
        #[command(flatten)]
        format: Format,
    },
}

/// A policy for a kind of caller.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Preset {
    /// Rare and long jobs: trips after 2 failures, for 15 minutes; a probe may take an hour
    Cron,
    /// Many short calls: trips by the rate of failed and slow calls of 10 seconds
    Web,
    /// Workers that retry: opens for 30 seconds at first, and comes back slowly
    Queue,
}
