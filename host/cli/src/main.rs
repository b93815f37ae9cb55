//! The program `halfopen`: a circuit breaker in front of any command, and what operators need around it.

mod args;
mod component;
mod control;
mod demo;
mod exit;
mod history;
mod not_started;
mod open;
mod output;
mod policy;
mod replay;
mod report;
mod run;
mod signals;
mod status;
mod supervise;
mod table;
mod text;
mod usage;

use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{Args as _, CommandFactory as _};

use crate::args::{Cli, Command, Global};
use crate::exit::Code;

fn main() -> ExitCode {
    // One line, whatever happens: who sees it can do nothing with a backtrace.
    std::panic::set_hook(Box::new(|panic| output::note(format_args!("this is a bug: {panic}"))));
    if let Err(error) = signals::settle() {
        return fail(&error);
    }
    let cli = match args::read() {
        Ok(cli) => cli,
        Err(error) => return usage::answer(&error).unwrap_or_else(|error| fail(&error)),
    };
    match std::panic::catch_unwind(|| start(&cli)) {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(error)) => fail(&error),
        Err(_) => ExitCode::from(Code::Internal as u8),
    }
}

fn start(cli: &Cli) -> anyhow::Result<u8> {
    listen(cli.global.verbose);
    let global = &cli.global;
    let done = match &cli.command {
        Command::Run(args) => return run::run(args, global),
        Command::Replay(args) => return replay::replay(args, global),
        Command::Demo => return demo::run(),
        Command::Status(args) => status::status(args, global),
        Command::History(args) => history::history(args, global),
        Command::Policy(args) => policy::policy(args, global),
        Command::Force(args) => control::force(args, global),
        Command::Reset(args) => control::reset(args, global),
        Command::Forget(args) => control::forget(args, global),
        Command::Prune(args) => control::prune(args, global),
        Command::Component(args) => component::component(args, global),
        Command::Completions { shell } => completions(*shell),
        Command::DemoDependency => demo::dependency(),
        Command::DemoWorker(args) => demo::worker(args),
    };
    done.map(|()| 0)
}

fn completions(shell: clap_complete::Shell) -> anyhow::Result<()> {
    // clap leaves hidden commands in.
    let visible =
        Cli::command().get_subcommands().filter(|command| !command.is_hide_set()).cloned().collect::<Vec<_>>();
    let mut command = Global::augment_args(clap::Command::new("halfopen")).subcommands(visible);
    // Into memory first: the generator panics where writing fails.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "halfopen", &mut script);
    output::written(io::stdout().write_all(&script))
}

/// Shows the library's events on stderr.
fn listen(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => tracing::Level::INFO,
        2 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).with_ansi(false).init();
}

fn fail(error: &anyhow::Error) -> ExitCode {
    // Whoever reads has seen enough, as with `| head`.
    let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if error.downcast_ref::<io::Error>().is_some_and(closed) {
        return ExitCode::SUCCESS;
    }
    output::note(format_args!("{error:#}"));
    ExitCode::from(exit::code_of(error) as u8)
}
