//! Work, sleep and commands that a signal can end.

use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use super::keeper::{Keeper, Response};
use super::signals::{self, Arrived};

/// An event that the supervisor waits for.
pub(super) enum Event {
    Signal(Arrived),
    Keeper(Response),
    /// The keeper has ended.
    KeeperGone,
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
    Interrupted { signal: i32, result: Option<T> },
}

/// Runs work and commands, and sleeps, while it listens for signals.
pub struct Supervisor {
    pub(super) sender: Sender<Event>,
    events: Receiver<Event>,
}

impl Supervisor {
    /// Starts listening for signals. From now on they no longer end the program by themselves.
    pub fn new() -> anyhow::Result<Self> {
        let (sender, events) = mpsc::channel();
        signals::forward(sender.clone(), Event::Signal)?;
        Ok(Supervisor { sender, events })
    }

    /// Listens to a keeper too.
    pub fn listen(&self, keeper: &Keeper) -> anyhow::Result<()> {
        let sender = self.sender.clone();
        let pass =
            move |response: Option<Response>| drop(sender.send(response.map_or(Event::KeeperGone, Event::Keeper)));
        Ok(keeper.listen(pass)?)
    }

    /// The next event; none when that time has come.
    pub(super) fn next(&self, until: Option<Instant>) -> Option<Event> {
        match until {
            Some(until) => self.events.recv_timeout(until.saturating_duration_since(Instant::now())).ok(),
            None => self.events.recv().ok(),
        }
    }

    /// Sleeps, unless a signal to end arrives: then returns that signal.
    pub fn sleep(&self, length: Duration) -> Option<i32> {
        // A wait that no clock can hold is cut to a year.
        let until = Instant::now() + length.min(Duration::from_secs(365 * 86_400));
        loop {
            match self.next(Some(until))? {
                Event::Signal(arrived) if arrived.ends_the_program() => return Some(arrived.signal),
                Event::Signal(arrived) => signals::stop_by(arrived),
                _ => {}
            }
        }
    }

    /// The signal to end that has arrived, if one has.
    pub fn end_signal(&self) -> Option<i32> {
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
        let mut ending: Option<(i32, Instant)> = None;
        loop {
            match (self.next(ending.map(|(_, until)| until)), ending) {
                (Some(Event::Signal(arrived)), None) if arrived.ends_the_program() => {
                    ending = Some((arrived.signal, Instant::now() + GRACE));
                }
                (Some(Event::Signal(arrived)), _) => signals::stop_by(arrived),
                (Some(Event::Keeper(_) | Event::KeeperGone), _) => {}
                (None, Some((signal, _))) => return Interruptible::Interrupted { signal, result: None },
                (Some(Event::WorkDone), Some((signal, _))) => {
                    return Interruptible::Interrupted { signal, result: result() };
                }
                (Some(Event::WorkDone) | None, None) => {
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
