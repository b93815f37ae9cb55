//! `halfopen demo`: shows with real processes what a shared breaker is for.

mod dependency;
mod http;
mod lane;
mod rules;
mod script;
mod worker;
mod workers;

use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use halfopen::{Host, State, Transition, TransitionReason, Transitions};

use self::dependency::{Dependency, LaneCounts, Reached};
use self::lane::Lane;
use self::script::{Next, OUTAGES, Script, Situation};
use self::workers::{Folder, Workers};
use crate::exit::{Code, Failure};
use crate::process::signals::{self, Arrived};
use crate::shell::output::line;
use crate::shell::table::Rows;
use crate::shell::text;

/// The text of `--help`.
pub const ABOUT: &str = "\
Show in under 20 seconds what this is for

Eight worker processes share a dependency: a small HTTP server on the loopback interface. It goes down and heals, twice. \
Hundreds of callers call it now and then, in three ways at the same time: with no breaker, with a breaker in each process, \
and with halfopen, one breaker for all callers in one SQLite file. The dependency counts the calls that reach it. The demo \
has a store of its own, which it removes at the end; the global options have no effect.

Exit code: 0 only if exactly one call, the probe, reached the dependency at each recovery with halfopen: from the moment it \
healed to its first success.";

const WORKERS: usize = 8;

/// The interval at which the demo looks at the situation.
const TICK: Duration = Duration::from_millis(50);

/// The time limit: a machine that needs longer is too busy for the demo.
const TOO_LONG: Duration = Duration::from_secs(90);

/// The exit code unless exactly one probe reached the dependency at each recovery.
const FAILED: u8 = 1;

/// Runs the demo, or one of its workers; returns the exit code.
pub fn run() -> anyhow::Result<u8> {
    if let Some(task) = worker::task()? {
        return worker::run(&task).map(|()| 0);
    }
    let (sender, signals) = mpsc::channel();
    signals::end_requests(sender, |arrived| arrived)?;
    match show(&signals) {
        // A signal of the terminal ends the other processes too: that is then the cause of the error.
        Err(error) => match signals.try_recv() {
            Ok(arrived) => Ok(code_of(arrived)),
            Err(_) => Err(error),
        },
        shown => shown,
    }
}

fn code_of(arrived: Arrived) -> u8 {
    u8::try_from(128 + arrived.signal).unwrap_or(u8::MAX)
}

fn show(signals: &Receiver<Arrived>) -> anyhow::Result<u8> {
    let callers = WORKERS * worker::CALLERS;
    line(format_args!(
        "{WORKERS} worker processes call one dependency. {callers} callers call it in each of three ways: with no breaker, \
         with a breaker\nin each process, and with halfopen: one breaker for all callers, in one SQLite file.\n"
    ))?;
    // Dropped last, after the processes.
    let folder = Folder::new()?;
    let store = folder.path().join("demo.db");
    let address = format!("sqlite:{}", store.to_str().context("the folder for temporary files is not UTF-8")?);
    let host = Host::builder().address(&address).default_policy(rules::policy()).build()?;
    let dependency = Dependency::start()?;
    let workers = Workers::start(WORKERS, dependency.ports, &address)?;
    let transitions = host.transitions();
    let mut stage = Stage { host, transitions, dependency, workers, started: Instant::now() };
    match stage.play(signals)? {
        None => stage.sum_up(),
        Some(arrived) => Ok(code_of(arrived)),
    }
}

struct Stage {
    host: Host,
    transitions: Transitions,
    workers: Workers,
    dependency: Dependency,
    started: Instant,
}

impl Stage {
    /// Plays the script to its end, or until a signal arrives.
    fn play(&mut self, signals: &Receiver<Arrived>) -> anyhow::Result<Option<Arrived>> {
        self.workers.begin()?;
        self.print("all is well")?;
        let mut script = Script::new(Instant::now());
        let breaker = self.host.breaker(rules::DEPENDENCY);
        loop {
            if let Ok(arrived) = signals.recv_timeout(TICK) {
                return Ok(Some(arrived));
            }
            // The breaker first: a change that it shows is then in the counts too.
            let breaker = breaker.inspect()?;
            let counts = self.dependency.counts();
            while let Some(observed) = self.transitions.next_timeout(Duration::ZERO)? {
                self.print(&format!("    halfopen: {}", explain(&observed.transition)))?;
            }
            match script.next(&Situation { now: Instant::now(), counts: &counts, breaker: &breaker }) {
                Next::Wait => {}
                Next::End => return Ok(None),
                Next::GoDown => {
                    self.dependency.go_down();
                    self.print("the dependency goes DOWN: every call fails")?;
                }
                Next::Heal => {
                    self.dependency.heal();
                    self.print("the dependency is HEALED; its first answer takes half a second")?;
                }
            }
            if !self.workers.all_run() {
                anyhow::bail!("a worker of the demo ended too early");
            }
            if self.started.elapsed() > TOO_LONG {
                let message = "the demo took too long; this machine may be too busy for it";
                return Err(Failure::error(Code::Unavailable, message));
            }
        }
    }

    fn print(&self, event: &str) -> anyhow::Result<()> {
        line(format_args!("{:>5.1}s  {event}", self.started.elapsed().as_secs_f64()))
    }

    fn sum_up(&self) -> anyhow::Result<u8> {
        let (counts, workers, took) = (self.dependency.counts(), self.workers.counts(), self.started.elapsed());
        self.print("done")?;
        line("\nCalls that reached the dependency (a recovery: from its healing to its first success):\n")?;
        line(table(&counts))?;
        line("")?;
        if counts[Lane::Shared as usize].recoveries != [Reached { calls: 0, probes: 1 }; OUTAGES] {
            line("FAILED: not exactly one probe reached the dependency at each recovery.")?;
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

/// A change of state in words.
fn explain(change: &Transition) -> String {
    match (change.to, &change.reason) {
        (State::Open, TransitionReason::ConsecutiveFailures) => {
            format!("{} consecutive failures: OPEN, callers are deferred", rules::CONSECUTIVE_FAILURES)
        }
        (State::HalfOpen, TransitionReason::ProbeDue) => "a probe is due: HALF-OPEN, one caller probes".to_owned(),
        (State::Open, TransitionReason::ProbeFailed) => "the probe failed: OPEN again, for longer".to_owned(),
        (State::Closed, TransitionReason::ProbeSucceeded) => {
            "the probe succeeded: CLOSED, all callers may call".to_owned()
        }
        (to, reason) => format!("{to} ({reason})"),
    }
}

/// The calls that reached the dependency in each lane.
fn table(counts: &[LaneCounts; 3]) -> String {
    let mut headings = vec![String::new(), "while it was down".to_owned()];
    headings.extend((1..=OUTAGES).map(|number| format!("at recovery {number}")));
    let mut rows = Rows::new(&headings.iter().map(String::as_str).collect::<Vec<_>>(), &[1, 2, 3]);
    for (lane, counts) in Lane::ALL.into_iter().zip(counts) {
        let numbers = std::iter::once(counts.while_down).chain(counts.recoveries.iter().copied());
        let row = numbers.map(|reached| reached.total().to_string());
        rows.add([format!("  {}", lane.name())].into_iter().chain(row));
    }
    rows.render()
}
