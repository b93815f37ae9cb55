//! Work, sleep and commands that a signal can end.

use std::fs::File;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::signals::{self, Arrived};

/// An event that the supervisor waits for.
pub(super) enum Event {
    Signal(Arrived),
    /// The command has ended and can be reaped.
    Ended,
    /// The work of [`Supervisor::during`] has ended.
    WorkDone,
}

/// The time that work has left after a signal to end.
const GRACE: Duration = Duration::from_millis(500);

/// The result of work that a signal may interrupt.
#[derive(Debug)]
pub enum Interruptible<T> {
    /// The work is done.
    Done(T),
    /// A signal to end came first. Without a result the work is still under way.
    Interrupted { signal: Signal, result: Option<T> },
}

/// Runs work and commands, and sleeps, while it listens for signals.
pub struct Supervisor {
    pub(super) sender: Sender<Event>,
    pub(super) events: Receiver<Event>,
    /// Whether commands get a process group of their own. With a terminal they must stay in its foreground group; without
    /// one, the time limit ends the whole group, with all processes that the command has started.
    pub(super) own_group: bool,
}

impl Supervisor {
    /// Starts listening for signals. From now on they no longer end the program by themselves.
    pub fn new() -> anyhow::Result<Self> {
        let (sender, events) = mpsc::channel();
        signals::forwarded(sender.clone(), Event::Signal)?;
        Ok(Supervisor { sender, events, own_group: File::open("/dev/tty").is_err() })
    }

    /// Sleeps, unless a signal to end arrives: then returns that signal.
    pub fn sleep(&self, length: Duration) -> Option<Signal> {
        // A wait that no clock can hold is cut to a year.
        let until = Instant::now() + length.min(Duration::from_secs(365 * 86_400));
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match self.events.recv_timeout(left) {
                Ok(Event::Signal(arrived)) if arrived.ends_the_program() => return Some(arrived.signal),
                Ok(_) => {}
                Err(_) => return None,
            }
        }
    }

    /// The signal to end that has arrived, if one has.
    pub fn end_signal(&self) -> Option<Signal> {
        self.sleep(Duration::ZERO)
    }

    /// Runs work that may take long, such as an operation on a store that does not answer. After a signal to end, the work
    /// has [`GRACE`] left; a thread that has not finished by then is abandoned.
    pub fn during<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Interruptible<T> {
        let (to_worker, inbox) = mpsc::channel::<(Work<T>, NotifyOnDrop)>();
        let run = move || inbox.recv().ok().map(|(work, _notify)| work());
        let Ok(worker) = std::thread::Builder::new().name("work".to_owned()).spawn(run) else {
            // Without a thread, signals wait until the work is done.
            return Interruptible::Done(work());
        };
        let _ = to_worker.send((Box::new(work), NotifyOnDrop(self.sender.clone())));
        let result = || match worker.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let mut ending: Option<(Signal, Instant)> = None;
        loop {
            let event = match ending {
                None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some((_, until)) => self.events.recv_timeout(until.saturating_duration_since(Instant::now())),
            };
            match (event, ending) {
                (Ok(Event::Signal(arrived)), None) if arrived.ends_the_program() => {
                    ending = Some((arrived.signal, Instant::now() + GRACE));
                }
                (Ok(Event::Signal(_) | Event::Ended), _) => {}
                (Err(_), Some((signal, _))) => return Interruptible::Interrupted { signal, result: None },
                (Ok(Event::WorkDone), Some((signal, _))) => {
                    return Interruptible::Interrupted { signal, result: result() };
                }
                (Ok(Event::WorkDone) | Err(_), None) => {
                    return Interruptible::Done(result().expect("the worker has got its work"));
                }
            }
        }
    }
}

type Work<T> = Box<dyn FnOnce() -> T + Send>;

/// Sends [`Event::WorkDone`] when it is dropped, also by a panic.
struct NotifyOnDrop(Sender<Event>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        let _ = self.0.send(Event::WorkDone);
    }
}
