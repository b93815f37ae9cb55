//! `halfopen run`: acquires a permit, and starts the command only with one.

mod admission;
mod execution;
mod outcome;
mod renewals;
mod report;
mod retry_after;
mod session;
mod start_error;
#[cfg(test)]
mod tests;

use anyhow::Context as _;

use self::admission::NotAdmitted;
use self::session::{End, Session};
use crate::args::{Global, Run};
use crate::exit::Code;
use crate::host;
use crate::process::signals::die_of;
use crate::process::{Keeper, Supervisor};

/// Runs the command; returns the exit status. Where a signal has ended the command or the wait, the program ends by it too.
pub fn run(args: &Run, global: &Global) -> anyhow::Result<u8> {
    // First, while this process has one thread.
    let keeper = Keeper::start(&args.command).context("cannot start a process for the command")?;
    match run_with(keeper, args, global)? {
        End::Status(status) => Ok(status),
        End::Signal(signal) => {
            die_of(signal);
            // Process 1 of a container does not die of its own signals.
            Ok(u8::try_from(128 + signal).unwrap_or(u8::MAX))
        }
    }
}

fn run_with(keeper: Keeper, args: &Run, global: &Global) -> anyhow::Result<End> {
    let supervisor = Supervisor::new()?;
    supervisor.listen(&keeper)?;
    let session = Session { args, supervisor: &supervisor, opener: host::opener(global)? };
    let admission = session.acquire();
    if let Some(signal) = supervisor.end_signal() {
        // A permit is released when it is dropped.
        return Ok(End::Signal(signal));
    }
    let guard = match admission {
        Ok(Ok(guard)) => guard,
        Ok(Err(NotAdmitted::Deferred)) => return Ok(End::Status(Code::Deferred as u8)),
        Ok(Err(NotAdmitted::Interrupted(signal))) => return Ok(End::Signal(signal)),
        Err(error) if session.runs_without(&error) => {
            session.say(&format!("{error:#}; starting the command without recording its outcome (fail-open)"));
            return session.execute(&keeper, None);
        }
        Err(error) => return Err(error),
    };
    if let Some(why) = guard.unrecorded() {
        session.say(&format!("{why}; starting the command without recording its outcome (fail-open)"));
        return session.execute(&keeper, None);
    }
    if guard.token().is_some()
        && let Err(signal) = session.warn_of_a_long_limit()
    {
        return Ok(End::Signal(signal));
    }
    session.execute(&keeper, Some(guard))
}
