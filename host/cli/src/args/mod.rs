//! The command line.

mod component;
mod operate;
mod replay;
mod run;
mod status;
#[cfg(test)]
mod tests;
mod values;

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueHint};
use clap_complete::Shell;

pub use self::component::ComponentCommand;
pub use self::operate::{Acting, Caution, Force, ForceMode, New, PolicyCommand, Preset, Prune, Target};
pub use self::replay::{EngineChoice, Replay};
pub use self::run::{OnStoreError, Run};
pub use self::status::{History, List, Shown, Status};
pub use self::values::duration;
use crate::{demo, exit};

/// A circuit breaker for callers that share a dependency and nothing else.
///
/// When a dependency fails, its callers are deferred, and each is given the time after which to retry. When the dependency
/// may have healed, exactly one caller probes it, under a lease that expires; all other callers are deferred until the
/// probe has ended.
///
/// An option with a variable can also be set by that variable; an empty variable counts as not set.
#[derive(Debug, Parser)]
#[command(name = "halfopen", version, propagate_version = true, after_long_help = exit::help())]
#[command(max_term_width = 110, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,

    #[command(subcommand)]
    pub command: Command,
}

/// The options of every command.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The store of the records: "sqlite:PATH", "postgres://HOST/DATABASE", "etcd://HOST:PORT/PREFIX", "memory" or a path [default: a file in the user's state folder]
    #[arg(long, global = true, env = "HALFOPEN_STORE", hide_env_values = true, value_name = "STORE")]
    pub store: Option<String>,

    /// A component to use in place of the built-in one
    #[arg(long, global = true, env = "HALFOPEN_COMPONENT", hide_env_values = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub component: Option<PathBuf>,

    /// The SHA-256 that the component must have, the built-in one too; a component with another is refused
    #[arg(long, global = true, env = "HALFOPEN_COMPONENT_SHA256", hide_env_values = true, value_name = "HEX")]
    pub component_sha256: Option<String>,

    /// The namespace; dependencies of the same name in two namespaces are two dependencies
    #[arg(long, global = true, env = "HALFOPEN_NAMESPACE", hide_env_values = true, value_name = "NAME")]
    #[arg(default_value = "default")]
    pub namespace: String,

    /// A policy file (TOML or JSON): the default policy, for dependencies without a custom one
    #[arg(long, global = true, env = "HALFOPEN_POLICY", hide_env_values = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub default_policy: Option<PathBuf>,

    /// Write events to stderr (twice: in detail)
    #[arg(long, short, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
}

/// The form of the output.
#[derive(Debug, Args)]
pub struct Format {
    /// Print JSON, on one line; the README of the program describes it
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Run(Run),
    /// Show the dependencies and their states
    Status(Status),
    /// Show the changes of state, and the acts of operators
    History(History),
    /// List the names of the dependencies
    List(List),
    /// Show, set or unset the policy of a dependency
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Force a state, or remove an override
    Force(Force),
    /// Close the breaker, and clear its counts, its backoff and its override; the policy stays
    Reset(Target),
    /// Remove the record of a dependency, its history and its custom policy
    Forget(Target),
    Prune(Prune),
    /// Check the store, its rights, the clock, the cache, the policy file and the component
    Doctor(Format),
    Replay(Replay),
    /// Show the state machine, one WebAssembly component, or write it to a file
    Component {
        #[command(subcommand)]
        action: Option<ComponentCommand>,
    },
    /// Print completions for a shell, which know the names of the dependencies
    Completions {
        /// The shell to print completions for
        shell: Shell,
    },
    /// Print the manual page, in the form that man reads
    Man {
        /// The command whose page to print ("run", "policy set"); that of the program if left out
        command: Vec<String>,
    },
    /// Show in under 20 seconds what this is for
    #[command(long_about = demo::ABOUT)]
    Demo,
}

/// Reads the command line. An empty variable counts as not set.
pub fn read() -> Result<Cli, clap::Error> {
    let is_empty = |name: &std::ffi::OsStr| std::env::var_os(name).is_some_and(|value| value.is_empty());
    let mut command = Cli::command().mut_args(|arg| match arg.get_env() {
        Some(name) if is_empty(name) => arg.env(None::<&str>),
        _ => arg,
    });
    if let Some(name) = variable_without_utf8(&command) {
        let message = format!("the variable {name} is not UTF-8; set it to a text, or unset it");
        return Err(command.error(ErrorKind::InvalidUtf8, message));
    }
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// A variable of an option that takes a text, and whose value is not UTF-8. clap does not name it.
fn variable_without_utf8(command: &clap::Command) -> Option<String> {
    // Paths may be any bytes.
    let texts = command.get_arguments().filter(|arg| arg.get_value_hint() != ValueHint::FilePath);
    let mut names = texts.filter_map(|arg| arg.get_env());
    let name = names.find(|name| std::env::var_os(name).is_some_and(|value| value.to_str().is_none()))?;
    name.to_str().map(str::to_owned)
}

/// The global options that the environment alone gives; none where it gives no valid ones.
pub fn from_environment() -> Option<Global> {
    Cli::try_parse_from(["halfopen", "list"]).ok().map(|cli| cli.global)
}
