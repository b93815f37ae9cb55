//! `halfopen run`: acquires a permit, and starts the command only with one.

mod admission;
mod execution;
mod outcome;
mod report;
mod session;
mod start_error;
#[cfg(test)]
mod tests;

use rustix::process::Signal;

use self::admission::NotAdmitted;
use self::session::Session;
use crate::args::{Global, Run};
use crate::exit::Code;
use crate::process::{Interruptible, Supervisor};

/// Runs the command; returns the exit status.
pub fn run(args: &Run, global: &Global) -> anyhow::Result<u8> {
    let supervisor = Supervisor::new()?;
    let session = Session { args, supervisor: &supervisor };
    let host = match session.open(global) {
        Interruptible::Done(opened) => opened?,
        Interruptible::Interrupted { signal, .. } => return Ok(code_of_signal(signal)),
    };
    let breaker = host.breaker(args.dependency.as_str()).caller(session.caller());
    let admission = session.acquire(&breaker);
    if let Some(signal) = supervisor.end_signal() {
        // A permit is released when it is dropped.
        return Ok(code_of_signal(signal));
    }
    let admitted = match admission? {
        Ok(admitted) => admitted,
        Err(NotAdmitted::Deferred) => return Ok(Code::Deferred as u8),
        Err(NotAdmitted::Interrupted(signal)) => return Ok(code_of_signal(signal)),
    };
    if let Some(why) = admitted.guard.unrecorded() {
        session.say(&format!("{why}; starting the command without recording its outcome (fail-open)"));
        return session.execute(None);
    }
    if admitted.lease.is_some()
        && let Err(signal) = session.warn_of_a_long_limit(&breaker)
    {
        return Ok(code_of_signal(signal));
    }
    session.execute(Some((&breaker, admitted)))
}

fn code_of_signal(signal: Signal) -> u8 {
    u8::try_from(128 + signal.as_raw()).unwrap_or(u8::MAX)
}
