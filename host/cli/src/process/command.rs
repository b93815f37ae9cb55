//! One command: started, given the program's signals, ended at its time limit.

use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use super::supervisor::{Event, Supervisor};

/// When a command is ended.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimit {
    /// The time after which it gets SIGTERM.
    pub timeout: Duration,
    /// The time after that until it gets SIGKILL.
    pub kill_after: Duration,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// Its status.
    pub status: ExitStatus,
    /// How long it ran.
    pub took: Duration,
    /// Whether its time limit ended it.
    pub timed_out: bool,
    /// Whether the program got a signal to end meanwhile, and passed it on.
    pub interrupted: bool,
}

impl Ended {
    /// The exit status as shells give it: 128 + n for a command that signal n killed.
    pub fn code(&self) -> u8 {
        let code = self.status.code().or_else(|| self.status.signal().map(|signal| 128 + signal));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
    }
}

/// Why the end of a command is not known.
#[derive(Debug)]
pub enum CommandError {
    /// The command was not started.
    NotStarted(io::Error),
    /// The command was started, and the system does not give its status.
    StatusLost(io::Error),
}

impl Supervisor {
    /// Runs a command to its end.
    ///
    /// # Errors
    ///
    /// [`CommandError`]: it was not started, or its status is lost.
    pub fn run(&self, command: &mut Command, limit: Option<TimeLimit>) -> Result<Ended, CommandError> {
        if self.own_group {
            command.process_group(0);
        }
        // Started before the command: without this thread, a command that runs would not be waited for.
        let waiter = self.waiter().map_err(CommandError::NotStarted)?;
        let started = Instant::now();
        let mut child = command.spawn().map_err(CommandError::NotStarted)?;
        let running = Running { pid: Pid::from_child(&child), own_group: self.own_group };
        let _ = waiter.send(running.pid);

        let mut next_kill = limit.map(|limit| (started + limit.timeout, Signal::TERM));
        let mut timed_out = false;
        let mut interrupted = false;
        loop {
            let event = match next_kill {
                None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some((at, _)) => self.events.recv_timeout(at.saturating_duration_since(Instant::now())),
            };
            match event {
                Ok(Event::Ended) => break,
                Ok(Event::WorkDone) => {}
                Ok(Event::Signal(arrived)) => {
                    interrupted |= arrived.ends_the_program();
                    // A terminal sends its signals to the whole group, so the command has it already.
                    if running.own_group || arrived.sent_by_process {
                        running.signal(arrived.signal);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    timed_out = true;
                    next_kill = running.end(next_kill, limit);
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let took = started.elapsed();
        let status = child.wait().map_err(CommandError::StatusLost)?;
        Ok(Ended { status, took, timed_out, interrupted })
    }

    /// Starts a thread that waits for the process whose number it is sent. The thread does not reap the process, `run`
    /// does: so the number stays valid for `kill`.
    fn waiter(&self) -> io::Result<Sender<Pid>> {
        let sender = self.sender.clone();
        let (to_waiter, inbox) = mpsc::channel();
        let wait = move || {
            let Ok(pid) = inbox.recv() else { return };
            while let Err(rustix::io::Errno::INTR) =
                rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            {}
            let _ = sender.send(Event::Ended);
        };
        std::thread::Builder::new().name("wait".to_owned()).spawn(wait)?;
        Ok(to_waiter)
    }
}

/// A command that has not been reaped yet.
struct Running {
    pid: Pid,
    own_group: bool,
}

impl Running {
    /// Sends a signal. A command that has just ended is no error.
    fn signal(&self, signal: Signal) {
        let _ = if self.own_group {
            rustix::process::kill_process_group(self.pid, signal)
        } else {
            rustix::process::kill_process(self.pid, signal)
        };
    }

    /// Takes the next step in ending the command; returns the one after it.
    fn end(&self, step: Option<(Instant, Signal)>, limit: Option<TimeLimit>) -> Option<(Instant, Signal)> {
        let (_, signal) = step?;
        self.signal(signal);
        if signal == Signal::KILL {
            return None;
        }
        // A stopped command must run to end.
        self.signal(Signal::CONT);
        Some((Instant::now() + limit?.kill_after, Signal::KILL))
    }
}
