//! Signals that the program gets, as events.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;

use anyhow::Context as _;
use rustix::process::Signal;
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;

/// A signal that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived {
    /// Which.
    pub signal: Signal,
    /// Whether a process sent it; what the terminal or the kernel sends goes to the whole foreground group anyway.
    pub sent_by_process: bool,
}

impl Arrived {
    /// Whether it asks the program to end.
    pub fn asks_to_end(self) -> bool {
        matches!(self.signal, Signal::HUP | Signal::INT | Signal::QUIT | Signal::TERM)
    }
}

/// What is passed on to a command.
const PASSED_ON: [Signal; 6] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::USR1, Signal::USR2];

/// Takes on the dispositions that the program needs, whatever it was started with.
pub fn settle() -> anyhow::Result<()> {
    // Some daemons leave it ignored; then the system would reap a command before its status is read. A command starts
    // with the default too: POSIX promises no program that an ignored SIGCHLD is inherited, and most do not expect it.
    // SAFETY: setting a signal to its default has no preconditions.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    if !is_ignored(libc::SIGXFSZ) {
        // A file that may grow no further is then an error of the write. A handler, where ignoring would be inherited: a
        // command starts with the default.
        let unused: Arc<AtomicBool> = Arc::default();
        signal_hook::flag::register(libc::SIGXFSZ, unused).context("cannot listen for signals")?;
    }
    Ok(())
}

/// From now on sends every signal that `run` passes on as an event, except those that the program was started to ignore
/// (as by nohup): a handler would make the command stop ignoring them.
pub fn pass_on<T: Send + 'static>(to: Sender<T>, event: impl Fn(Arrived) -> T + Send + 'static) -> anyhow::Result<()> {
    watch(&PASSED_ON, to, event)
}

/// From now on sends the signals that ask the program to end as events.
pub fn end_requests<T: Send + 'static>(
    to: Sender<T>,
    event: impl Fn(Arrived) -> T + Send + 'static,
) -> anyhow::Result<()> {
    watch(&[Signal::HUP, Signal::INT, Signal::TERM], to, event)
}

fn watch<T: Send + 'static>(
    signals: &[Signal],
    to: Sender<T>,
    event: impl Fn(Arrived) -> T + Send + 'static,
) -> anyhow::Result<()> {
    let wanted: Vec<i32> = signals.iter().map(|signal| signal.as_raw()).filter(|raw| !is_ignored(*raw)).collect();
    let mut arriving = SignalsInfo::<WithOrigin>::new(wanted).context("cannot listen for signals")?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for origin in arriving.forever() {
                let Some(signal) = Signal::from_named_raw(origin.signal) else { continue };
                let sent_by_process = origin.process.is_some_and(|process| process.pid != 0);
                if to.send(event(Arrived { signal, sent_by_process })).is_err() {
                    return;
                }
            }
        })
        .context("cannot start a thread for signals")?;
    Ok(())
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: with no new action given, sigaction only writes the present one into `present`, which is a valid place
    // for it; all-zero bytes are a valid value of that plain struct.
    unsafe {
        let mut present: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut present) == 0 && present.sa_sigaction == libc::SIG_IGN
    }
}
