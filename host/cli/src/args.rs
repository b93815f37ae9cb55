//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use crate::{demo, exit};

/// A circuit breaker for callers that share a dependency and nothing else.
///
/// When a dependency fails, callers are told to leave it alone and when to come back. When it may have healed, exactly
/// one of them is let through to try, under a lease that expires; all others keep away until that is settled.
///
/// Options with a variable can be given by that too; a variable that is empty counts as not set.
#[derive(Debug, Parser)]
#[command(name = "halfopen", version, propagate_version = true, after_long_help = exit::help())]
#[command(max_term_width = 110, arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,

    #[command(subcommand)]
    pub command: Command,
}

/// What every command goes by.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Where the records are: "sqlite:PATH", "postgres://HOST/DATABASE", "etcd://HOST:PORT/PREFIX", "memory" or a path [default: a file in the user's state folder]
    #[arg(long, global = true, env = "HALFOPEN_STORE", hide_env_values = true, value_name = "STORE")]
    pub store: Option<String>,

    /// A component to use in place of the built-in one
    #[arg(long, global = true, env = "HALFOPEN_COMPONENT", hide_env_values = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub component: Option<PathBuf>,

    /// Runs no component, the built-in one included, unless its SHA-256 is in this file, as sha256sum prints them
    #[arg(long, global = true, env = "HALFOPEN_ALLOWED_COMPONENTS", hide_env_values = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub allowed_components: Option<PathBuf>,

    /// Keeps dependencies of the same name apart: a command sees those of one namespace (a name as for dependencies)
    #[arg(long, global = true, env = "HALFOPEN_NAMESPACE", hide_env_values = true, value_name = "NAME")]
    #[arg(default_value = "default")]
    pub namespace: String,

    /// A policy file (TOML or JSON) for dependencies without a policy of their own
    #[arg(long, global = true, env = "HALFOPEN_POLICY", hide_env_values = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub default_policy: Option<PathBuf>,

    /// Say on stderr what happens (twice: in detail)
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Run),
    /// Show dependencies and their states
    Status(Status),
    /// Show what changed the state of a dependency
    History(History),
    /// Show or set the policy of a dependency
    #[command(subcommand)]
    Policy(Policy),
    /// Force a state, or take that back
    Force(Force),
    /// Close the breaker and let it forget what was; the policy stays
    Reset(Target),
    /// Remove all that is known of a dependency, its policy included
    Forget(Target),
    /// Remove the records of dependencies that nobody uses any more
    ///
    /// A record goes only while it is closed, with nothing forced and no policy of its own, and only if nothing was
    /// written to it for so long. A dependency that is used again starts with a new record.
    Prune(Prune),
    Replay(Replay),
    /// Look at the state machine: one WebAssembly component
    Component(Component),
    /// Print completions for a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Show in under 20 seconds what this is for
    #[command(long_about = demo::ABOUT)]
    Demo,
    /// The dependency of the demo
    #[command(hide = true)]
    DemoDependency,
    /// One worker of the demo
    #[command(hide = true)]
    DemoWorker(demo::WorkerArgs),
}

/// Run a command only if its dependency may be called.
///
/// The command gets the program's streams and signals, and its exit status becomes the program's. Exit status 0 is
/// reported as success, any other as failure. A command that ends badly after it, or halfopen, was asked to end (SIGINT,
/// SIGTERM, SIGHUP, SIGQUIT) is reported as ignored: that says nothing about the dependency.
///
/// When the store cannot be reached at the end, the result is reported again and again: that of a probe until its lease has
/// ended, any other for 10 seconds, and not after a signal. The exit status stays the command's whatever comes of it.
///
/// The command sees HALFOPEN_DEPENDENCY, HALFOPEN_ROLE ("call" or "probe") and, when it is the probe, HALFOPEN_TOKEN: a
/// number that only ever rises, to be handed on as a fencing token.
#[derive(Debug, Args)]
#[command(after_long_help = exit::help())]
pub struct Run {
    /// Exit statuses that say nothing about the dependency: "3", "3,22", "64-78"
    #[arg(long, value_name = "STATUS", value_delimiter = ',', value_parser = statuses)]
    pub ignore_status: Vec<std::ops::RangeInclusive<u8>>,

    /// End the command after so long ("30s", "1m 30s") and report a timeout
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,

    /// How long after SIGTERM a command that goes on running gets SIGKILL
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "5s", requires = "timeout")]
    pub kill_after: Duration,

    /// When deferred, wait as told and ask again; a store that cannot be asked is not waited for
    #[arg(long)]
    pub wait: bool,

    /// Wait so long altogether at most
    #[arg(long, value_name = "DURATION", value_parser = duration, requires = "wait")]
    pub max_wait: Option<Duration>,

    /// Say nothing on stderr but errors
    #[arg(long, short)]
    pub quiet: bool,

    /// What to do when the store cannot be asked
    ///
    /// That is, when it cannot be opened or read, is locked for long, full or damaged. A command that is started all the
    /// same is not counted, and takes no lease: several of them may run while a probe is under way. What was last known is
    /// kept in small files in the folder "last-known" of the user's state folder, and only where "last-known" is chosen.
    #[arg(long, value_enum, value_name = "CHOICE", default_value_t)]
    pub on_store_error: OnStoreError,

    /// Who asks; shown with a lease [default: "COMMAND (pid N)"]
    #[arg(long, value_name = "NAME")]
    pub caller: Option<String>,

    /// What the command depends on
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: String,

    /// The command and its arguments, after "--"
    #[arg(value_name = "COMMAND", last = true, required = true, num_args = 1.., value_hint = ValueHint::CommandWithArguments)]
    pub command: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, ValueEnum)]
pub enum OnStoreError {
    /// Do not start the command; exit with the code of the error
    #[default]
    FailClosed,
    /// Start the command all the same, as if the breaker were closed
    FailOpen,
    /// Do as the store last said: start the command if the breaker was closed, defer for what is left of a wait; where
    /// nothing is known, as also after a probe, do not start it
    LastKnown,
}

#[derive(Debug, Args)]
pub struct Status {
    /// Only this one, in detail
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: Option<String>,

    /// One line of JSON: an array, or an object for one dependency
    ///
    /// "since" and "next_due" are instants, in milliseconds since 1970-01-01 UTC; "expires_in" of a lease and "ends_in" of
    /// an override are what is left, in milliseconds. "calls", "failures" and "slow" count what is in the window now.
    /// "reason" is that of the last change of state. "recorded" is false where nothing is known yet. What does not apply
    /// is null. A record that cannot be read has "dependency" and "error" only.
    #[arg(long)]
    pub json: bool,

    /// Look again every so often ("500ms"; 1s if left out) until interrupted
    #[arg(long, value_name = "EVERY", value_parser = duration, num_args = 0..=1, default_missing_value = "1s")]
    #[arg(require_equals = true)]
    pub watch: Option<Duration>,
}

#[derive(Debug, Args)]
pub struct History {
    /// Which
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: String,

    /// The newest so many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20)]
    pub limit: usize,

    /// One line of JSON for each change; "at" is in milliseconds since 1970-01-01 UTC
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Policy {
    /// Show the policy that a dependency goes by, as a file that "policy set" takes
    Show {
        /// Which; the default policy if left out
        #[arg(value_name = "DEPENDENCY")]
        dependency: Option<String>,
        /// As JSON; every "..._ms" is in milliseconds, as in policy files
        #[arg(long)]
        json: bool,
    },
    /// Give a dependency a policy of its own
    ///
    /// A file (TOML or JSON) is a whole policy: what it leaves out gets its built-in default. KEY=VALUE changes the policy
    /// that the dependency goes by, or what the file says: open_ms=10000, failure_rate.percent=20, window.calls=100,
    /// slow_calls=off.
    Set {
        /// Which
        #[arg(value_name = "DEPENDENCY")]
        dependency: String,
        /// A policy file and then KEY=VALUE as often as needed
        #[arg(value_name = "FILE | KEY=VALUE", required = true, num_args = 1..)]
        changes: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub struct Force {
    /// Which
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: String,

    /// What
    #[arg(value_enum, value_name = "STATE")]
    pub mode: Mode,

    /// Ends by itself after so long ("10m"); without it, it lasts
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub lasting: Option<Duration>,

    /// Why; shown by status (at most 100 bytes)
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub note: String,
}

#[derive(Debug, Args)]
pub struct Prune {
    /// Nothing was written to it for so long ("30d"), or longer
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub idle: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub enum Mode {
    /// All calls are deferred
    Open,
    /// All calls are admitted; outcomes are counted and never trip
    Closed,
    /// Nothing is forced any more; after "open" a probe is due at once
    None,
}

#[derive(Debug, Args)]
pub struct Target {
    /// Which
    #[arg(value_name = "DEPENDENCY")]
    pub dependency: String,
}

/// Run replay files and check what they expect.
///
/// A replay file is JSON Lines: a first line {"scenario": "..."} and then one step a line, on a virtual clock. Each file
/// runs in an empty namespace of its own that is removed afterwards: in memory, unless --store says otherwise. What a file
/// does not say is built in: --namespace and --default-policy do not bear on it. Exit code: 0 when all expectations hold,
/// 1 when one does not, 2 for a file that is not well-formed; of several files the highest.
#[derive(Debug, Args)]
pub struct Replay {
    /// The files; "-" is the standard input
    #[arg(value_name = "FILE", required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,

    /// Print no answers, only what does not hold and the sum
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct Component {
    #[command(subcommand)]
    pub action: Option<ComponentAction>,
}

#[derive(Debug, Subcommand)]
pub enum ComponentAction {
    /// Show a component's size, SHA-256, imports and exports (the default)
    Show {
        /// The file; the component in use if left out
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: Option<PathBuf>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Write the built-in component to a file
    Write {
        /// The file; "-" is the standard output
        #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// Replace the file if it exists
        #[arg(long)]
        force: bool,
    },
}

/// Reads the command line. A variable that is set to nothing counts as not set.
pub fn read() -> Result<Cli, clap::Error> {
    let is_empty = |name: &std::ffi::OsStr| std::env::var_os(name).is_some_and(|value| value.is_empty());
    let mut command = Cli::command().mut_args(|arg| match arg.get_env() {
        Some(name) if is_empty(name) => arg.env(None::<&str>),
        _ => arg,
    });
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// The variable that stands for an option and holds what is no text, if there is one.
pub fn variable_that_is_no_text() -> Option<String> {
    let command = Cli::command();
    // Paths may be anything.
    let texts = command.get_arguments().filter(|arg| arg.get_value_hint() != ValueHint::FilePath);
    let mut names = texts.filter_map(|arg| arg.get_env());
    let name = names.find(|name| std::env::var_os(name).is_some_and(|value| value.to_str().is_none()))?;
    name.to_str().map(str::to_owned)
}

fn duration(text: &str) -> Result<Duration, String> {
    match humantime::parse_duration(text) {
        Ok(length) if length < Duration::from_millis(1) => Err("it must be at least 1ms".to_owned()),
        // Far beyond every limit, and small enough for any clock.
        Ok(length) if length > Duration::from_secs(100 * 365 * 86_400) => Err("it is too long".to_owned()),
        Ok(length) => Ok(length),
        Err(error) => Err(format!("{error}; write it like 500ms, 30s or 1m 30s")),
    }
}

fn statuses(text: &str) -> Result<std::ops::RangeInclusive<u8>, String> {
    let number = |text: &str| {
        let number: Option<u8> = text.trim().parse().ok();
        number.filter(|number| *number > 0).ok_or_else(|| "an exit status is a number from 1 to 255".to_owned())
    };
    let range = match text.split_once('-') {
        None => number(text)?..=number(text)?,
        Some((low, high)) => number(low)?..=number(high)?,
    };
    if range.is_empty() { Err("the range is the wrong way round".to_owned()) } else { Ok(range) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn statuses_and_ranges() {
        assert_eq!(statuses("3"), Ok(3..=3));
        assert_eq!(statuses("64-78"), Ok(64..=78));
        for wrong in ["", "0", "256", "-1", "5-", "9-3", "x"] {
            assert!(statuses(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_need_a_unit_and_a_length() {
        assert_eq!(duration("1m 30s"), Ok(Duration::from_secs(90)));
        for wrong in ["", "5", "0s", "1ns", "-1s", "9999999999999y", "5 parsecs"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_follows_the_dashes_is_the_commands() {
        let cli = Cli::try_parse_from(["halfopen", "run", "pay", "--", "curl", "--quiet", "--", "x"]).unwrap();
        let Command::Run(run) = cli.command else { panic!() };
        assert_eq!((run.dependency.as_str(), run.quiet), ("pay", false));
        assert_eq!(run.command, ["curl", "--quiet", "--", "x"]);
        assert!(Cli::try_parse_from(["halfopen", "run", "pay", "curl"]).is_err());
        assert!(Cli::try_parse_from(["halfopen", "run", "pay", "--max-wait", "1s", "--", "curl"]).is_err());
    }
}
