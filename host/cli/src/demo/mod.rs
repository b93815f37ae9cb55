//! `halfopen demo`: what this is for, with real parts.

mod children;
mod dependency;
mod http;
mod in_process;
mod lane;
mod rules;
mod scene;
mod view;
mod worker;

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use halfopen::{Host, State, Transition, TransitionReason, Transitions};

pub use self::dependency::main as dependency;
pub use self::worker::{WorkerArgs, main as worker};

use self::children::{Dependency, Folder, Workers};
use self::dependency::{Counts, Order};
use self::lane::{Lane, PerLane};
use self::scene::{Course, Next, OUTAGES, Standing};
use self::view::View;
use crate::exit::{Code, Failure};
use crate::output::line;
use crate::signals::{self, Arrived};
use crate::text;

/// What `--help` says of it.
pub const ABOUT: &str = "\
Show in under 20 seconds what this is for

Eight worker processes share a dependency: a small HTTP server in a process of its own, on the loopback interface. It goes \
down and heals, twice. Hundreds of callers want something of it now and then, and go about it in three ways at the same \
time: with no breaker, with a breaker in each process, and with halfopen, one breaker for all of them in one SQLite file. \
What reaches the dependency is counted there. The demo brings its own store, whatever the global options say, and leaves nothing behind.

Exits with 0 only if exactly one call, the probe, reached the dependency at each recovery with halfopen: from the moment \
it healed to its first success.";

/// The name of the dependency.
const DEPENDENCY: &str = "the-dependency";

const WORKERS: usize = 8;

/// How often the demo looks.
const TICK: Duration = Duration::from_millis(50);

/// A machine on which it takes so long is too busy to show anything.
const TOO_LONG: Duration = Duration::from_secs(90);

/// Not exactly one probe.
const FAILED: u8 = 1;

/// Shows it; answers with the exit code.
pub fn run() -> anyhow::Result<u8> {
    let (sender, ends) = mpsc::channel();
    signals::end_requests(sender, |arrived| arrived)?;
    match show(&ends) {
        // The terminal has ended the other processes too, which is what went wrong.
        Err(error) => match ends.try_recv() {
            Ok(arrived) => Ok(interrupted(arrived)),
            Err(_) => Err(error),
        },
        shown => shown,
    }
}

fn interrupted(by: Arrived) -> u8 {
    u8::try_from(128 + by.signal.as_raw()).unwrap_or(u8::MAX)
}

fn show(ends: &Receiver<Arrived>) -> anyhow::Result<u8> {
    let callers = WORKERS * worker::CALLERS;
    line(format_args!(
        "{WORKERS} worker processes call one dependency. {callers} callers go about it in each of three ways: with no breaker, with a \
         breaker\nin each process, and with halfopen: one breaker for all of them, in one SQLite file.\n"
    ))?;
    // Dropped last, after the processes.
    let folder = Folder::new()?;
    let store = folder.path().join("demo.db");
    let address = format!("sqlite:{}", store.to_str().context("the folder for temporary files is not UTF-8")?);
    let host = Host::builder().address(&address).default_policy(rules::policy()).build()?;
    let dependency = Dependency::start()?;
    let workers = Workers::start(WORKERS, &dependency.ports, &store)?;
    let transitions = host.transitions();
    let mut stage = Stage { host, transitions, dependency, workers, view: View::new()?, started: Instant::now() };
    match stage.play(ends)? {
        Played::Through(counts) => stage.sum_up(&counts),
        Played::Interrupted(arrived) => Ok(interrupted(arrived)),
    }
}

/// What a change of state means, in words.
fn explain(change: &Transition) -> String {
    match (change.to, &change.reason) {
        (State::Open, TransitionReason::ConsecutiveFailures) => {
            format!("{} failures in a row: OPEN, callers are told when to come back", rules::CONSECUTIVE_FAILURES)
        }
        (State::HalfOpen, TransitionReason::ProbeDue) => "time for a probe: HALF-OPEN, one caller tries".to_owned(),
        (State::Open, TransitionReason::ProbeFailed) => "the probe failed: OPEN again, for longer".to_owned(),
        (State::Closed, TransitionReason::ProbeSucceeded) => "the probe succeeded: CLOSED, all may call".to_owned(),
        (to, reason) => format!("{to} ({reason})"),
    }
}

enum Played {
    Through(Box<PerLane<Counts>>),
    Interrupted(Arrived),
}

struct Stage {
    host: Host,
    transitions: Transitions,
    view: View,
    workers: Workers,
    dependency: Dependency,
    started: Instant,
}

impl Stage {
    fn play(&mut self, ends: &Receiver<Arrived>) -> anyhow::Result<Played> {
        self.started = Instant::now();
        self.workers.begin()?;
        self.tell("all is well")?;
        let mut course = Course::new(Instant::now());
        let breaker = self.host.breaker(DEPENDENCY);
        loop {
            match ends.recv_timeout(TICK) {
                Ok(arrived) => return Ok(Played::Interrupted(arrived)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            // The breaker first: what it shows as settled, the counts have counted.
            let breaker = breaker.inspect()?;
            let counts = self.dependency.order(Order::Look)?;
            self.tell_transitions()?;
            let standing = Standing { now: Instant::now(), clock: text::now(), counts: &counts, breaker: &breaker };
            self.view.show(&scene::picture(&course, &standing, self.workers.told().deferred));
            match course.next(&standing) {
                Next::Nothing => {}
                Next::End => return Ok(Played::Through(Box::new(counts))),
                Next::Order(order) => {
                    self.dependency.order(order)?;
                    self.tell(match order {
                        Order::Down => "the dependency goes DOWN: every call fails",
                        _ => "the dependency is HEALED; its first answer will take half a second",
                    })?;
                }
            }
            self.check()?;
        }
    }

    fn check(&mut self) -> anyhow::Result<()> {
        if !self.workers.all_run() {
            anyhow::bail!("a worker of the demo ended before its time");
        }
        if self.started.elapsed() > TOO_LONG {
            let message = "the demo did not get on; this machine seems to be too busy for it";
            return Err(Failure::error(Code::Unavailable, message));
        }
        Ok(())
    }

    fn tell(&self, what: &str) -> anyhow::Result<()> {
        self.view.tell(self.started.elapsed(), what)
    }

    fn tell_transitions(&mut self) -> anyhow::Result<()> {
        while let Some(observed) = self.transitions.next_timeout(Duration::ZERO)? {
            self.tell(&format!("    halfopen: {}", explain(&observed.transition)))?;
        }
        Ok(())
    }

    fn sum_up(&mut self, counts: &PerLane<Counts>) -> anyhow::Result<u8> {
        let (told, took) = (self.workers.told(), self.started.elapsed());
        self.tell("done")?;
        self.view.end();
        let recoveries = scene::recoveries(counts);
        line("\nCalls that reached the dependency (a recovery: from its healing to its first success):\n")?;
        line(view::sum(|lane| counts.get(lane).while_down.total(), &recoveries))?;
        line("")?;
        let shared = recoveries.iter().map(|recovery| *recovery.get(Lane::Shared));
        let good = shared.filter(|reached| (reached.probes, reached.calls) == (1, 0)).count();
        if good < OUTAGES {
            line(format_args!("FAILED: exactly one probe was to reach the dependency at each recovery."))?;
            return Ok(FAILED);
        }
        line(format_args!(
            "With halfopen exactly one call, the probe, reached the dependency at each recovery.\n{} times a caller was \
             told to come back later instead. It took {}.",
            told.deferred,
            text::duration(took)
        ))?;
        if told.errors > 0 {
            line(format_args!("{} questions or reports failed; see above.", told.errors))?;
        }
        Ok(0)
    }
}
