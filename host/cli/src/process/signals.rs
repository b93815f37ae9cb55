//! The signals that the program gets, as events.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use anyhow::Context as _;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use super::inherited::{is_ignored, set_ignored};
use super::tree;

/// A signal that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// The signal.
    pub signal: i32,
    /// Whether the terminal sent it: then the whole foreground group has it.
    pub from_terminal: bool,
}

impl From<Origin> for Arrived {
    fn from(origin: Origin) -> Self {
        // Of a process in another namespace there is no number: the cause alone tells a process from the kernel.
        let from_terminal = origin.cause == Cause::Kernel && TERMINAL.contains(&origin.signal);
        Arrived { signal: origin.signal, from_terminal }
    }
}

impl Arrived {
    /// Whether the program ends by it, where no command runs: whether that is the default action.
    pub fn ends_the_program(self) -> bool {
        !self.stops_the_program() && ![libc::SIGCONT, libc::SIGURG, libc::SIGWINCH].contains(&self.signal)
    }

    /// Whether it stops the program, until SIGCONT.
    pub fn stops_the_program(self) -> bool {
        [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU].contains(&self.signal)
    }

    /// Whether it asks the program to end, so that a failure says nothing about the dependency.
    pub fn asks_to_end(self) -> bool {
        [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM].contains(&self.signal)
    }
}

/// The signals that a terminal sends.
const TERMINAL: [i32; 8] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGWINCH,
    libc::SIGCONT,
];

/// The signals that no handler may get (SIGKILL, SIGSTOP), that mean a fault of the process itself, or that the program
/// handles itself.
const NOT_FORWARDED: [i32; 8] = [
    libc::SIGKILL,
    libc::SIGSTOP,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGSEGV,
    libc::SIGCHLD,
    libc::SIGXFSZ,
];

/// The signals that a command gets too.
pub(super) fn forwarded() -> impl Iterator<Item = i32> {
    // The numbers in between are those of the C library.
    let all = (1..32).chain(libc::SIGRTMIN()..=libc::SIGRTMAX());
    all.filter(|signal| !NOT_FORWARDED.contains(signal))
}

/// Sets the dispositions that the program needs.
pub fn set_dispositions() -> anyhow::Result<()> {
    // Some daemons start their children with SIGCHLD ignored: the system would then reap a command before its status is
    // read. The command starts with the default too; POSIX does not promise that an ignored SIGCHLD is inherited.
    set_ignored(libc::SIGCHLD, false);
    if !is_ignored(libc::SIGXFSZ) {
        // With a handler, a write beyond the limit of a file's size returns an error. An ignored signal would do that too,
        // but the command would inherit it.
        let unused: Arc<AtomicBool> = Arc::default();
        signal_hook::flag::register(libc::SIGXFSZ, unused).context("cannot listen for signals")?;
    }
    Ok(())
}

/// From now on sends each signal that `run` forwards as an event, and reaps children.
pub(super) fn forward<T: Send + 'static>(
    to: Sender<T>,
    event: impl Fn(Arrived) -> T + Send + 'static,
) -> anyhow::Result<()> {
    watch(forwarded().chain([libc::SIGCHLD]), move |arrived| match arrived.signal {
        // Process 1 gets the orphans of all others.
        libc::SIGCHLD => while let Ok(Some(_)) = tree::reap() {},
        _ => drop(to.send(event(arrived))),
    })
}

/// From now on sends the signals to end as events.
pub fn end_requests<T: Send + 'static>(
    to: Sender<T>,
    event: impl Fn(Arrived) -> T + Send + 'static,
) -> anyhow::Result<()> {
    watch([libc::SIGHUP, libc::SIGINT, libc::SIGTERM], move |arrived| drop(to.send(event(arrived))))
}

/// Passes each signal on, for as long as the program runs. A signal that it was started to ignore (as by nohup) stays
/// ignored: with a handler, the command would no longer ignore it.
fn watch(signals: impl IntoIterator<Item = i32>, pass: impl Fn(Arrived) + Send + 'static) -> anyhow::Result<()> {
    let wanted: Vec<i32> = signals.into_iter().filter(|signal| !is_ignored(*signal)).collect();
    let mut arriving = SignalsInfo::<WithOrigin>::new(wanted).context("cannot listen for signals")?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let own = i32::try_from(std::process::id()).unwrap_or_default();
            // A write to a closed pipe sends SIGPIPE in the name of the process that writes.
            let others = arriving.forever().filter(|origin| origin.process.is_none_or(|sender| sender.pid != own));
            others.map(Arrived::from).for_each(pass);
        })
        .context("cannot start a thread for signals")?;
    Ok(())
}

/// Stops the program, as the signal does by default: a shell sees its job stop.
pub(super) fn stop_by(arrived: Arrived) {
    if arrived.stops_the_program() {
        // SAFETY: raise has no memory-related preconditions.
        unsafe { libc::raise(libc::SIGSTOP) };
    }
}

/// Ends the program as the signal ends a process, without a core dump. Returns where it does not, as in process 1.
pub fn die_of(signal: i32) {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    let no_core = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
    let _ = rustix::process::setrlimit(rustix::process::Resource::Core, no_core);
    set_ignored(signal, false);
    // SAFETY: raise has no memory-related preconditions.
    unsafe { libc::raise(signal) };
}
