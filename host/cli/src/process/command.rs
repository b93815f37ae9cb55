//! One command: started, given the program's signals, ended at its time limit.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use super::keeper::{Keeper, Response};
use super::supervisor::{Event, Supervisor};
use super::{signals, tree};

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
    /// Whether the program got a signal that asks it to end, or the one that ended the command.
    pub interrupted: bool,
}

impl Ended {
    /// The exit status as shells give it: 128 + n for a command that signal n killed.
    pub fn code(&self) -> u8 {
        let code = self.status.code().or_else(|| self.status.signal().map(|signal| 128 + signal));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
    }
}

impl Supervisor {
    /// Runs the keeper's command to its end, with these variables set or removed. A file that is meant for this run is
    /// removed where the program is killed.
    ///
    /// # Errors
    /// The command was not started.
    pub fn run(
        &self,
        keeper: &Keeper,
        variables: Vec<(String, Option<String>)>,
        file: Option<String>,
        limit: Option<TimeLimit>,
    ) -> io::Result<Ended> {
        let started = Instant::now();
        keeper.start_command(variables, file)?;
        let mut next_kill = limit.map(|limit| (started + limit.timeout, libc::SIGTERM));
        let (mut timed_out, mut arrived_before) = (false, Vec::new());
        let status = loop {
            match self.next(next_kill.map(|(at, _)| at)) {
                Some(Event::Keeper(Response::Ended(status))) => break ExitStatus::from_raw(status),
                Some(Event::Keeper(Response::NotStarted(error))) => return Err(io::Error::from_raw_os_error(error)),
                Some(Event::KeeperGone) => {
                    // Its command dies with it.
                    tree::kill_descendants();
                    break ExitStatus::from_raw(libc::SIGKILL);
                }
                Some(Event::Signal(arrived)) => {
                    arrived_before.push(arrived);
                    // In the foreground group the command has it already.
                    if keeper.own_group || !arrived.from_terminal {
                        keeper.forward(arrived.signal);
                    }
                    signals::stop_by(arrived);
                }
                Some(Event::WorkDone | Event::Keeper(Response::Ready)) => {}
                None => {
                    timed_out = true;
                    next_kill = next_kill.zip(limit).and_then(|((_, signal), limit)| {
                        keeper.end(signal);
                        // A stopped command must run to end.
                        keeper.end(libc::SIGCONT);
                        let kill_at = Instant::now() + limit.kill_after;
                        (signal != libc::SIGKILL).then_some((kill_at, libc::SIGKILL))
                    });
                }
            }
        };
        let interrupted =
            arrived_before.iter().any(|arrived| arrived.asks_to_end() || status.signal() == Some(arrived.signal));
        Ok(Ended { status, took: started.elapsed(), timed_out, interrupted })
    }
}
