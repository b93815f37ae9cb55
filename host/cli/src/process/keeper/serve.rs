//! The keeper's own process. It has one thread.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, setpgid};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;

use super::message::{Request, Response, receive, send};
use crate::process::inherited::{Mask, is_ignored, set_ignored};
use crate::process::{signals, tree};

/// The time in which a sender of one signal to several processes reaches all of them.
const SPREAD: Duration = Duration::from_millis(100);

/// The names of variables that hold the number of the process that they are meant for.
const PROCESS_NUMBERS: [&str; 2] = ["LISTEN_PID", "WATCHDOG_PID"];

struct Server<'a> {
    program: UnixStream,
    /// The program's process number.
    number: u32,
    command: &'a [OsString],
    own_group: bool,
    /// The mask for the command.
    inherited: Mask,
    signals: SignalDelivery<UnixStream, SignalOnly>,
    /// The command, until it is reaped.
    running: Option<i32>,
    /// The wait status of the command.
    ended: Option<i32>,
    /// Whether the time limit is over, so that no descendant may run on.
    ends_all: bool,
    /// The signals to forward, and the instants of their arrival.
    held: Vec<(i32, Instant)>,
    /// The signals that the keeper got, and when it noticed.
    received: Vec<(i32, Instant)>,
}

/// Serves the program, whose number it gets, until the command has ended or the program is gone.
pub(super) fn serve(program: UnixStream, number: u32, command: &[OsString], own_group: bool, inherited: Mask) {
    if own_group {
        let _ = setpgid(None, None);
    }
    let _ = rename(command);
    tree::adopt_orphans();
    let wanted = signals::forwarded().chain([libc::SIGCHLD]).filter(|signal| !is_ignored(*signal));
    let delivery =
        UnixStream::pair().and_then(|(read, write)| SignalDelivery::with_pipe(read, write, SignalOnly, wanted));
    Mask::none().swap();
    let result = delivery.and_then(|signals| {
        send(&program, &Response::Ready)?;
        let mut server = Server {
            program: program.try_clone()?,
            number,
            command,
            own_group,
            inherited,
            signals,
            running: None,
            ended: None,
            ends_all: false,
            held: Vec::new(),
            received: Vec::new(),
        };
        let ended = server.serve();
        // Its handlers stay for as long as the process: once their pipe has no reader, they would send this process SIGPIPE,
        // and handle that.
        std::mem::forget(server);
        ended
    });
    let response = match result {
        Ok(Some(status)) => Response::Ended(status),
        Ok(None) => return tree::kill_descendants(),
        Err(error) => Response::NotStarted(error.raw_os_error().unwrap_or(libc::EIO)),
    };
    let _ = send(&program, &response);
}

impl Server<'_> {
    /// Returns the status of the command; none where the program is gone.
    fn serve(&mut self) -> io::Result<Option<i32>> {
        let mut requests = receive(self.program.try_clone()?);
        let mut file: Option<String> = None;
        loop {
            let has_request = self.wait();
            self.note_signals();
            if let Some(status) = self.reap() {
                return Ok(Some(status));
            }
            self.forward_due();
            if !has_request {
                continue;
            }
            match requests.next() {
                Some(Request::Start(variables, temporary)) => {
                    file = temporary;
                    self.running = Some(self.start(&variables)?);
                }
                // A signal that waits already is the same one, but for real-time signals, which queue.
                Some(Request::Forward(signal))
                    if signal < libc::SIGRTMIN() && self.held.iter().any(|(held, _)| *held == signal) => {}
                Some(Request::Forward(signal)) => self.held.push((signal, Instant::now())),
                Some(Request::End(signal)) => {
                    self.ends_all = true;
                    if !tree::signal_descendants(signal) {
                        self.signal_command(signal);
                    }
                }
                None => {
                    self.signal_command(libc::SIGKILL);
                    let _ = file.map(fs::remove_file);
                    return Ok(None);
                }
            }
        }
    }

    /// Waits for a signal or a request, or until a signal is to be forwarded; returns whether there is a request.
    fn wait(&self) -> bool {
        let left = self.held.first().map(|(_, at)| (*at + SPREAD).saturating_duration_since(Instant::now()));
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        let mut fds = [PollFd::new(&self.program, PollFlags::IN), PollFd::new(self.signals.get_read(), PollFlags::IN)];
        poll(&mut fds, left.as_ref()).is_ok() && !fds[0].revents().is_empty()
    }

    fn note_signals(&mut self) {
        let now = Instant::now();
        self.received.retain(|(_, at)| now.duration_since(*at) < 2 * SPREAD);
        self.received.extend(self.signals.pending().map(|signal| (signal, now)));
    }

    /// Reaps children; returns the status of the command when all is over.
    fn reap(&mut self) -> Option<i32> {
        loop {
            match tree::reap() {
                Ok(Some((pid, status))) if Some(pid) == self.running => {
                    (self.running, self.ended) = (None, Some(status.into_raw()));
                }
                Ok(Some(_)) => {}
                Ok(None) => return self.ended.filter(|_| !self.ends_all),
                Err(_) => return self.ended,
            }
        }
    }

    /// Forwards the signals that were held for long enough to know whether the command has got them.
    fn forward_due(&mut self) {
        while let Some((signal, at)) = self.held.first().copied().filter(|(_, at)| at.elapsed() >= SPREAD) {
            self.held.remove(0);
            let reached = self.received.iter().position(|(other, noticed)| *other == signal && *noticed + SPREAD >= at);
            let reached = reached.map(|index| self.received.remove(index)).is_some();
            // The sender has reached the keeper too, so it sends to all. That is believed of a command with a handler; without
            // one it has ended or would end.
            if !(reached && self.running.is_some_and(|command| tree::handles(command, signal))) {
                self.signal_command(signal);
            }
        }
    }

    fn signal_command(&self, signal: i32) {
        if let Some(command) = self.running {
            tree::send(if self.own_group { -command } else { command }, signal);
        }
    }

    /// Starts the command; returns its number.
    fn start(&self, variables: &[(String, Option<String>)]) -> io::Result<i32> {
        let (mut failure, mut to_keeper) = io::pipe()?;
        let keeper = std::process::id();
        let before = Mask::all().swap();
        let forked = tree::fork();
        if let Ok(None) = forked {
            let error = self.become_command(variables, keeper);
            let _ = to_keeper.write_all(&error.raw_os_error().unwrap_or(libc::EINVAL).to_ne_bytes());
            std::process::exit(i32::from(crate::exit::Code::NotFound as u8));
        }
        before.swap();
        drop(to_keeper);
        let mut number = [0; size_of::<i32>()];
        match failure.read_exact(&mut number) {
            Ok(()) => Err(io::Error::from_raw_os_error(i32::from_ne_bytes(number))),
            // Closed by the start of the command.
            Err(_) => forked.map(Option::unwrap_or_default),
        }
    }

    /// Goes on as the command; returns why that is not possible.
    fn become_command(&self, variables: &[(String, Option<String>)], keeper: u32) -> io::Error {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = rustix::process::set_parent_process_death_signal(Some(Signal::KILL));
        if std::os::unix::process::parent_id() != keeper {
            return io::ErrorKind::Interrupted.into();
        }
        if self.own_group {
            let _ = setpgid(None, None);
        }
        // With a handler of the keeper, a signal that comes before the command has begun would be lost.
        for signal in signals::forwarded().filter(|signal| !is_ignored(*signal)) {
            set_ignored(signal, false);
        }
        let (name, arguments) = self.command.split_first().expect("the command line has a command");
        let mut command = Command::new(name);
        command.args(arguments);
        for (variable, value) in variables {
            match value {
                Some(value) => command.env(variable, value),
                None => command.env_remove(variable),
            };
        }
        let program = self.number.to_string();
        for variable in PROCESS_NUMBERS {
            if std::env::var(variable).is_ok_and(|number| number == program) {
                command.env(variable, std::process::id().to_string());
            }
        }
        let (inherited, ignores_pipe) = (self.inherited, is_ignored(libc::SIGPIPE));
        let restore = move || {
            set_ignored(libc::SIGPIPE, ignores_pipe);
            inherited.swap();
            Ok(())
        };
        // SAFETY: `restore` makes system calls and nothing else.
        unsafe { command.pre_exec(restore) };
        // A script without a first line runs under sh: `execvp` sees to that.
        command.exec()
    }
}

/// Replaces the program's name and options in the keeper's command line, and keeps the command's. A search for the program
/// then finds the program alone, and a search for the command's line finds the keeper too.
fn rename(command: &[OsString]) -> Option<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::thread::set_name(c"keeper");
    let start: u64 = tree::stat("/proc/self/stat", 48)?;
    let line = fs::read("/proc/self/cmdline").ok()?;
    let commands: usize = command.iter().map(|argument| argument.len() + 1).sum();
    let mut shown = b"keeper:".to_vec();
    shown.resize(line.len().checked_sub(commands)?, b' ');
    // The arguments have been read by now, and this process does not read them again.
    File::options().write(true).open("/proc/self/mem").ok()?.write_all_at(&shown, start).ok()
}
