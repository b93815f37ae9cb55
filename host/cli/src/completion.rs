//! Completions for shells. The script of a shell calls this program, which knows the names of the dependencies.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};

use crate::args::Cli;
use crate::exit::{Code, Failure};
use crate::shell::output::written;
use crate::{args, host};

/// The variable in which a shell asks for completions.
const VARIABLE: &str = "HALFOPEN_COMPLETE";

/// Answers a shell that asks for completions, and ends the program then.
pub fn answer() {
    CompleteEnv::with_factory(command).var(VARIABLE).bin("halfopen").completer("halfopen").complete();
}

/// Prints the script of a shell.
pub fn print(shell: clap_complete::Shell) -> anyhow::Result<()> {
    let (shells, name) = (Shells::builtins(), shell.to_string());
    let shell = shells
        .completer(&name)
        .ok_or_else(|| Failure::error(Code::Usage, format!("there are no completions for {name}")))?;
    // Into memory first: the generator may write in small parts.
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "halfopen", "halfopen", "halfopen", &mut script)?;
    written(io::stdout().write_all(&script))
}

/// The command line, with the names of dependencies as candidates.
fn command() -> clap::Command {
    Cli::command().mut_subcommands(with_names)
}

fn with_names(command: clap::Command) -> clap::Command {
    let with_names = command.mut_args(|arg| match arg.get_id().as_str() {
        "dependency" | "dependencies" => arg.add(ArgValueCandidates::new(names)),
        _ => arg,
    });
    with_names.mut_subcommands(self::with_names)
}

/// The names in the store that the environment names; none where it cannot be read.
fn names() -> Vec<CompletionCandidate> {
    let global = args::from_environment();
    let names = global.and_then(|global| host::open_to_read(&global).ok()?.list().ok());
    names.unwrap_or_default().into_iter().map(CompletionCandidate::new).collect()
}
