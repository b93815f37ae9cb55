//! The signals that the program gets, as events.

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
    /// The signal.
    pub signal: Signal,
    /// Whether a process sent it. The terminal and the kernel send to the whole foreground group.
    pub sent_by_process: bool,
}

impl Arrived {
    /// Whether the program ends by it.
    pub fn ends_the_program(self) -> bool {
        matches!(self.signal, Signal::HUP | Signal::INT | Signal::QUIT | Signal::TERM)
    }
}

/// The signals that a command gets too.
const FORWARDED: [Signal; 6] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::USR1, Signal::USR2];

/// Sets the dispositions that the program needs.
pub fn set_dispositions() -> anyhow::Result<()> {
    // Some daemons start their children with SIGCHLD ignored: the system would then reap a command before its status is
    // read. The command starts with the default too; POSIX does not promise that an ignored SIGCHLD is inherited.
    // SAFETY: setting a signal to its default has no preconditions.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    if !is_ignored(libc::SIGXFSZ) {
        // With a handler, a write beyond the limit of a file's size returns an error. An ignored signal would do that too,
        // but the command would inherit it.
        let unused: Arc<AtomicBool> = Arc::default();
        signal_hook::flag::register(libc::SIGXFSZ, unused).context("cannot listen for signals")?;
    }
    Ok(())
}

/// From now on sends each signal that `run` forwards as an event, except a signal that the program was started to ignore
/// (as by nohup): with a handler, the command would no longer ignore it.
pub fn forwarded<T: Send + 'static>(
    to: Sender<T>,
    event: impl Fn(Arrived) -> T + Send + 'static,
) -> anyhow::Result<()> {
    watch(&FORWARDED, to, event)
}

/// From now on sends the signals to end as events.
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
    // SAFETY: without a new action, sigaction only writes the present one into `present`, which is valid for writes;
    // all-zero bytes are a valid value of that plain struct.
    unsafe {
        let mut present: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut present) == 0 && present.sa_sigaction == libc::SIG_IGN
    }
}
