//! The program `halfopen`: a circuit breaker in front of any command, with the commands of operators.

mod args;
mod completion;
mod component;
mod demo;
mod exit;
mod host;
mod man;
mod operate;
mod policy_file;
mod process;
mod replay;
mod run;
mod shell;

use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::args::{Cli, Command};
use crate::exit::Code;
use crate::shell::output;

fn main() -> ExitCode {
    // One line: a backtrace is of no use to the user.
    std::panic::set_hook(Box::new(|panic| output::note(format_args!("this is a bug: {panic}"))));
    // Each thread would reserve 64 MiB of address space, which may be limited.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: no other thread allocates yet.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
    if let Err(error) = process::signals::set_dispositions() {
        return fail(&error);
    }
    // Where a shell asks for completions, this answers and ends the program.
    completion::answer();
    let cli = match args::read() {
        Ok(cli) => cli,
        Err(error) => return print_usage(&error),
    };
    match std::panic::catch_unwind(|| start(&cli)) {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(error)) => fail(&error),
        Err(_) => ExitCode::from(Code::Internal as u8),
    }
}

/// Prints the help, the version, or the fault of a command line.
fn print_usage(error: &clap::Error) -> ExitCode {
    match (error.use_stderr(), output::written(error.print().and_then(|()| io::stdout().flush()))) {
        (true, _) => ExitCode::from(Code::Usage as u8),
        (false, Ok(())) => ExitCode::SUCCESS,
        (false, Err(error)) => fail(&error),
    }
}

fn start(cli: &Cli) -> anyhow::Result<u8> {
    write_events(cli.global.verbose);
    let global = &cli.global;
    let done = match &cli.command {
        Command::Run(args) => return run::run(args, global),
        Command::Replay(args) => return replay::replay(args, global),
        Command::Demo => return demo::run(),
        Command::Status(args) => return operate::status(args, global),
        Command::Doctor(format) => return operate::doctor(format, global),
        Command::List(args) => operate::list(args, global),
        Command::History(args) => operate::history(args, global),
        Command::Policy(args) => operate::policy(args, global),
        Command::Force(args) => operate::force(args, global),
        Command::Reset(args) => operate::reset(args, global),
        Command::Forget(args) => operate::forget(args, global),
        Command::Prune(args) => operate::prune(args, global),
        Command::Component { action } => component::component(action.as_ref(), global),
        Command::Completions { shell } => completion::print(*shell),
        Command::Man { command } => man::print(command),
    };
    done.map(|()| 0)
}

/// Writes the library's events to stderr.
fn write_events(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => tracing::Level::INFO,
        2 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).with_ansi(false).init();
}

fn fail(error: &anyhow::Error) -> ExitCode {
    // A reader that closes the pipe, as `head` does, has all that it wants.
    let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if error.downcast_ref::<io::Error>().is_some_and(closed) {
        return ExitCode::SUCCESS;
    }
    output::note(format_args!("{error:#}"));
    ExitCode::from(exit::code_of(error) as u8)
}
