//! `halfopen demo`: shows with real processes what a shared breaker is for.

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
use self::dependency::{LaneCounts, Order};
use self::lane::{Lane, PerLane};
use self::scene::{Next, OUTAGES, Script, Situation};
use self::view::View;
use crate::exit::{Code, Failure};
use crate::process::signals::{self, Arrived};
use crate::shell::output::line;
use crate::shell::text;

/// The text of `--help`.
pub const ABOUT: &str = "\
Show in under 20 seconds what this is for

Eight worker processes share a dependency: a small HTTP server in a process of its own, on the loopback interface. It goes \
down and heals, twice. Hundreds of callers call it now and then, in three ways at the same time: with no breaker, with a \
breaker in each process, and with halfopen, one breaker for all callers in one SQLite file. The dependency counts the calls \
that reach it. The demo has a store of its own, whatever the global options are, and removes it at the end.

Exit code: 0 only if exactly one call, the probe, reached the dependency at each recovery with halfopen: from the moment \
it healed to its first success.";

const WORKERS: usize = 8;

/// The interval at which the demo looks at the situation.
const TICK: Duration = Duration::from_millis(50);

/// The time limit: a machine that needs longer is too busy for the demo.
const TOO_LONG: Duration = Duration::from_secs(90);

/// The exit code unless exactly one probe reached the dependency at each recovery.
const FAILED: u8 = 1;

/// Runs the demo; returns the exit code.
pub fn run() -> anyhow::Result<u8> {
    let (sender, ends) = mpsc::channel();
    signals::end_requests(sender, |arrived| arrived)?;
    match show(&ends) {
        // A signal of the terminal ends the other processes too: that is then the cause of the error.
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
        "{WORKERS} worker processes call one dependency. {callers} callers call it in each of three ways: with no breaker, with a \
         breaker\nin each process, and with halfopen: one breaker for all callers, in one SQLite file.\n"
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
        Played::ToTheEnd(counts) => stage.sum_up(&counts),
        Played::Interrupted(arrived) => Ok(interrupted(arrived)),
    }
}

/// A change of state in words.
fn explain(change: &Transition) -> String {
    match (change.to, &change.reason) {
        (State::Open, TransitionReason::ConsecutiveFailures) => {
            format!("{} failures in a row: OPEN, callers are deferred", rules::CONSECUTIVE_FAILURES)
        }
        (State::HalfOpen, TransitionReason::ProbeDue) => "a probe is due: HALF-OPEN, one caller probes".to_owned(),
        (State::Open, TransitionReason::ProbeFailed) => "the probe failed: OPEN again, for longer".to_owned(),
        (State::Closed, TransitionReason::ProbeSucceeded) => "the probe succeeded: CLOSED, all callers may call".to_owned(),
        (to, reason) => format!("{to} ({reason})"),
    }
}

enum Played {
    ToTheEnd(Box<PerLane<LaneCounts>>),
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
        self.print("all is well")?;
        let mut script = Script::new(Instant::now());
        let breaker = self.host.breaker(rules::DEPENDENCY);
        loop {
            match ends.recv_timeout(TICK) {
                Ok(arrived) => return Ok(Played::Interrupted(arrived)),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            // The breaker first: a change that it shows is then in the counts too.
            let breaker = breaker.inspect()?;
            let counts = self.dependency.order(Order::Count)?;
            self.print_transitions()?;
            let situation = Situation { now: Instant::now(), clock: text::now(), counts: &counts, breaker: &breaker };
            self.view.show(&scene::picture(&script, &situation, self.workers.counts().deferred));
            match script.next(&situation) {
                Next::Nothing => {}
                Next::End => return Ok(Played::ToTheEnd(Box::new(counts))),
                Next::Order(order) => {
                    self.dependency.order(order)?;
                    self.print(match order {
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
            anyhow::bail!("a worker of the demo ended too early");
        }
        if self.started.elapsed() > TOO_LONG {
            let message = "the demo took too long; this machine may be too busy for it";
            return Err(Failure::error(Code::Unavailable, message));
        }
        Ok(())
    }

    fn print(&self, event: &str) -> anyhow::Result<()> {
        self.view.print(self.started.elapsed(), event)
    }

    fn print_transitions(&mut self) -> anyhow::Result<()> {
        while let Some(observed) = self.transitions.next_timeout(Duration::ZERO)? {
            self.print(&format!("    halfopen: {}", explain(&observed.transition)))?;
        }
        Ok(())
    }

    fn sum_up(&mut self, counts: &PerLane<LaneCounts>) -> anyhow::Result<u8> {
        let (workers, took) = (self.workers.counts(), self.started.elapsed());
        self.print("done")?;
        self.view.end();
        let recoveries = scene::recoveries(counts);
        line("\nCalls that reached the dependency (a recovery: from its healing to its first success):\n")?;
        line(view::table(|lane| counts.get(lane).while_down.total(), &recoveries))?;
        line("")?;
        let shared = recoveries.iter().map(|recovery| *recovery.get(Lane::Shared));
        let good = shared.filter(|reached| (reached.probes, reached.calls) == (1, 0)).count();
        if good < OUTAGES {
            line(format_args!("FAILED: not exactly one probe reached the dependency at each recovery."))?;
            return Ok(FAILED);
        }
        line(format_args!(
            "With halfopen exactly one call, the probe, reached the dependency at each recovery.\n{} calls were deferred \
             instead. The demo took {}.",
            workers.deferred,
            text::duration(took)
        ))?;
        if workers.errors > 0 {
            line(format_args!("{} acquires or reports failed; see above.", workers.errors))?;
        }
        Ok(0)
    }
}
