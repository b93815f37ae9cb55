//! Runs one command: passes signals on to it, ends it when its time is up, and tells how it ended.

use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::signals::{self, Arrived};

/// What the supervisor waits for.
enum Event {
    Signal(Arrived),
    /// The command has ended and can be reaped.
    Ended,
    /// What was done beside the waiting for signals has ended.
    Done,
}

/// After a signal that asks the program to end, what is under way has so long left.
const GRACE: Duration = Duration::from_millis(500);

/// What came of something that a signal may cut short.
#[derive(Debug)]
pub enum CameTo<T> {
    /// It was done.
    Done(T),
    /// A signal asked the program to end meanwhile. No result: it is still under way.
    Interrupted { signal: Signal, result: Option<T> },
}

/// When a command is ended.
#[derive(Clone, Copy, Debug)]
pub struct TimeLimit {
    /// After so long it gets SIGTERM.
    pub timeout: Duration,
    /// So long after that it gets SIGKILL.
    pub kill_after: Duration,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    /// Its status, as the system gave it.
    pub status: ExitStatus,
    /// How long it ran.
    pub took: Duration,
    /// Whether its time limit ended it.
    pub timed_out: bool,
    /// Whether the program was asked to end meanwhile, and the command with it.
    pub interrupted: bool,
}

impl Ended {
    /// The exit status as shells give it: 128 + n for a command that signal n killed.
    pub fn code(&self) -> u8 {
        let code = self.status.code().or_else(|| self.status.signal().map(|signal| 128 + signal));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
    }
}

/// Why a run has no end to tell of.
#[derive(Debug)]
pub enum RunError {
    /// The command was not started.
    NotStarted(io::Error),
    /// The command was started, and the system does not tell how it ended.
    Lost(io::Error),
}

/// Runs commands, and sleeps, while it listens for signals.
pub struct Supervisor {
    sender: Sender<Event>,
    events: Receiver<Event>,
    /// Whether commands are put into a process group of their own. With a terminal they must stay in its foreground
    /// group; without one, a group lets a time limit end what the command started too.
    own_group: bool,
}

impl Supervisor {
    /// Starts listening for signals. From now on they no longer end the program by themselves.
    pub fn new() -> anyhow::Result<Self> {
        let (sender, events) = mpsc::channel();
        signals::pass_on(sender.clone(), Event::Signal)?;
        Ok(Supervisor { sender, events, own_group: File::open("/dev/tty").is_err() })
    }

    /// Sleeps, unless a signal asks the program to end: then that signal.
    pub fn sleep(&self, length: Duration) -> Option<Signal> {
        // A wait beyond the end of time is cut to a year.
        let until = Instant::now() + length.min(Duration::from_secs(365 * 86_400));
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(Event::Signal(arrived)) if arrived.asks_to_end() => return Some(arrived.signal),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// The signal that has asked the program to end, if one has.
    pub fn asked_to_end(&self) -> Option<Signal> {
        self.sleep(Duration::ZERO)
    }

    /// Does something that may take long, such as asking a store that does not answer. Where a signal asks the program to
    /// end, it has a moment left; beyond that it goes on unheeded until the program has ended.
    pub fn during<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> CameTo<T> {
        let (give, given) = mpsc::channel::<(Work<T>, Tell)>();
        let worker = move || given.recv().ok().map(|(work, _done)| work());
        let Ok(worker) = std::thread::Builder::new().name("work".to_owned()).spawn(worker) else {
            // Without a thread for it, signals wait.
            return CameTo::Done(work());
        };
        let _ = give.send((Box::new(work), Tell(self.sender.clone())));
        let result = || match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let mut asked: Option<(Signal, Instant)> = None;
        loop {
            let event = match asked {
                None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some((_, until)) => self.events.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            match (event, asked) {
                (Ok(Event::Signal(arrived)), None) if arrived.asks_to_end() => {
                    asked = Some((arrived.signal, Instant::now() + GRACE));
                }
                (Ok(Event::Signal(_) | Event::Ended), _) => {}
                (Err(_), Some((signal, _))) => return CameTo::Interrupted { signal, result: None },
                (Ok(Event::Done), Some((signal, _))) => return CameTo::Interrupted { signal, result: result() },
                (Ok(Event::Done) | Err(_), None) => {
                    return CameTo::Done(result().expect("it is given its work before it is waited for"));
                }
            }
        }
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    ///
    /// [`RunError`]: it was not started, or its status is lost.
    pub fn run(&self, command: &mut Command, limit: Option<TimeLimit>) -> Result<Ended, RunError> {
        if self.own_group {
            command.process_group(0);
        }
        // First, so that a command which has been started is waited for, come what may.
        let waiter = self.waiter().map_err(RunError::NotStarted)?;
        let started = Instant::now();
        let mut child = command.spawn().map_err(RunError::NotStarted)?;
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
                Ok(Event::Done) => {}
                Ok(Event::Signal(arrived)) => {
                    interrupted |= arrived.asks_to_end();
                    // The terminal has told the command already, which is in the same group.
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
        let status = child.wait().map_err(RunError::Lost)?;
        Ok(Ended { status, took, timed_out, interrupted })
    }

    /// A thread that is told which process to wait for. It only looks, and leaves the reaping to `run`: so the process
    /// number stays valid for `kill`.
    fn waiter(&self) -> io::Result<Sender<Pid>> {
        let sender = self.sender.clone();
        let (tell, told) = mpsc::channel();
        let wait = move || {
            let Ok(pid) = told.recv() else { return };
            while let Err(rustix::io::Errno::INTR) =
                rustix::process::waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            {}
            let _ = sender.send(Event::Ended);
        };
        std::thread::Builder::new().name("wait".to_owned()).spawn(wait)?;
        Ok(tell)
    }
}

type Work<T> = Box<dyn FnOnce() -> T + Send>;

/// Tells that something is done, also where it has panicked.
struct Tell(Sender<Event>);

impl Drop for Tell {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Done);
    }
}

/// A command that has not been reaped yet.
struct Running {
    pid: Pid,
    own_group: bool,
}

impl Running {
    /// Sends a signal. That the command has just ended is no error.
    fn signal(&self, signal: Signal) {
        let _ = if self.own_group {
            rustix::process::kill_process_group(self.pid, signal)
        } else {
            rustix::process::kill_process(self.pid, signal)
        };
    }

    /// Takes the next step in ending the command; answers with the one after it.
    fn end(&self, step: Option<(Instant, Signal)>, limit: Option<TimeLimit>) -> Option<(Instant, Signal)> {
        let (_, signal) = step?;
        self.signal(signal);
        if signal == Signal::KILL {
            return None;
        }
        // A command that was stopped must run to end.
        self.signal(Signal::CONT);
        Some((Instant::now() + limit?.kill_after, Signal::KILL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn limit(timeout_ms: u64, kill_after_ms: u64) -> Option<TimeLimit> {
        let [timeout, kill_after] = [timeout_ms, kill_after_ms].map(Duration::from_millis);
        Some(TimeLimit { timeout, kill_after })
    }

    #[test]
    fn statuses_are_those_that_shells_give() {
        let supervisor = Supervisor::new().unwrap();
        assert_eq!(supervisor.run(&mut shell("exit 0"), None).unwrap().code(), 0);
        assert_eq!(supervisor.run(&mut shell("exit 7"), limit(60_000, 1)).unwrap().code(), 7);
        let killed = supervisor.run(&mut shell("kill -KILL $$"), None).unwrap();
        assert_eq!((killed.code(), killed.timed_out, killed.interrupted), (137, false, false));
    }

    #[test]
    fn a_signal_ends_the_waiting_for_what_is_under_way_and_leaves_it_a_moment() {
        let supervisor = Supervisor::new().unwrap();
        assert!(matches!(supervisor.during(|| 7), CameTo::Done(7)));
        let get = |supervisor: &Supervisor, signal| {
            supervisor.sender.send(Event::Signal(Arrived { signal, sent_by_process: true })).unwrap();
        };
        let (end, ended) = mpsc::channel::<()>();
        get(&supervisor, Signal::TERM);
        let cut_short = supervisor.during(move || ended.recv().is_ok());
        assert!(matches!(cut_short, CameTo::Interrupted { signal: Signal::TERM, result: None }), "{cut_short:?}");
        drop(end);

        let supervisor = Supervisor::new().unwrap();
        get(&supervisor, Signal::INT);
        let done = supervisor.during(|| 7);
        assert!(matches!(done, CameTo::Interrupted { signal: Signal::INT, result: Some(7) }), "{done:?}");
    }

    #[test]
    fn a_command_that_cannot_be_started_is_an_error() {
        let supervisor = Supervisor::new().unwrap();
        let error = supervisor.run(&mut Command::new("/nonexistent/command"), None).unwrap_err();
        assert!(matches!(error, RunError::NotStarted(error) if error.kind() == io::ErrorKind::NotFound));
    }

    #[test]
    fn the_time_limit_ends_a_command_even_one_that_ignores_term() {
        let supervisor = Supervisor::new().unwrap();
        let ended = supervisor.run(&mut shell("sleep 600"), limit(50, 60_000)).unwrap();
        assert_eq!((ended.timed_out, ended.code()), (true, 143));
        let stubborn =
            supervisor.run(&mut shell("trap '' TERM; while :; do sleep 600; done"), limit(1_000, 100)).unwrap();
        assert_eq!((stubborn.timed_out, stubborn.code()), (true, 137));
    }
}
