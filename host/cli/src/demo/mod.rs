//! `halfopen demo`: shows with real processes what a shared breaker is for.

mod dependency;
mod worker;
mod workers;

use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use halfopen::{Breaker, Host, Inspection, State, Transition, TransitionReason, Transitions};

use self::dependency::{Dependency, Health, LANES, Lane, Recovery, SHARED};
use self::workers::Workers;
use crate::exit::{Code, Failure};
use crate::process::signals;
use crate::shell::output::line;
use crate::shell::table::Rows;
use crate::shell::text;

/// The text of `--help`.
pub const ABOUT: &str = "\
Show in under 20 seconds what this is for

Eight worker processes share a dependency: a small server on the loopback interface. It goes down and heals, twice. \
Hundreds of callers call it now and then, in three ways at the same time: with no breaker, with a breaker in each process, \
and with halfopen, one breaker for all callers in one SQLite file. The dependency counts the calls that reach it. The demo \
has a store of its own, which it removes at the end; the global options have no effect.

Exit code: 0 only if exactly one call, the probe, reached the dependency at each recovery with halfopen: from the moment it \
healed to its first success.";

const WORKERS: usize = 8;
const OUTAGES: usize = 2;

/// The time before and after an outage.
const CALM: Duration = Duration::from_millis(1_000);

/// The shortest outage.
const DOWN: Duration = Duration::from_millis(2_200);

/// The dependency heals only while the next probe is due later than this: no probe is under way that would still fail.
const CLEAR_MS: u64 = 400;

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
    let arrived = Arc::new(OnceLock::new());
    let first = Arc::clone(&arrived);
    signals::end_requests(sender, move |arrived| _ = first.set(arrived.signal))?;
    // A signal of the terminal ends the workers too: the signal is then the cause of the error.
    show(signals).or_else(|error| match arrived.get() {
        Some(signal) => Ok(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        None => Err(error),
    })
}

fn show(signals: Receiver<()>) -> anyhow::Result<u8> {
    let callers = WORKERS * worker::CALLERS;
    line(format_args!(
        "{WORKERS} worker processes call one dependency. {callers} callers call it in each of three ways: with no breaker, \
         with a breaker\nin each process, and with halfopen: one breaker for all callers, in one SQLite file.\n"
    ))?;
    // Dropped last, after the processes.
    let folder = tempfile::Builder::new().prefix("halfopen-demo-").tempdir()?;
    let store = folder.path().join("demo.db");
    let address = format!("sqlite:{}", store.to_str().context("the folder for temporary files is not UTF-8")?);
    let host = Host::builder().address(&address).default_policy(worker::policy()).build()?;
    let dependency = Dependency::start()?;
    let workers = Workers::start(WORKERS, dependency.ports, &address)?;
    let (breaker, transitions) = (host.breaker(worker::DEPENDENCY), host.transitions());
    let mut stage = Stage { breaker, transitions, dependency, workers, signals, started: Instant::now() };
    stage.play()?;
    stage.sum_up()
}

struct Stage {
    breaker: Breaker,
    transitions: Transitions,
    workers: Workers,
    dependency: Dependency,
    signals: Receiver<()>,
    started: Instant,
}

impl Stage {
    /// Plays the script. Each step depends on the situation, not on the time alone, so that it is the same on a slow machine.
    fn play(&mut self) -> anyhow::Result<()> {
        self.print("all is well")?;
        self.wait(|waited, _, _| waited >= CALM)?;
        for _ in 0..OUTAGES {
            self.dependency.go_down();
            self.print("the dependency goes DOWN: every call fails")?;
            self.wait(|waited, breaker, lanes| waited >= DOWN && is_clear(breaker, lanes))?;
            self.dependency.heal();
            self.print("the dependency is HEALED; its first answer takes half a second")?;
            self.wait(|_, breaker, lanes| {
                breaker.state == State::Closed && lanes.iter().all(|lane| lane.health == Health::Up)
            })?;
            self.wait(|waited, _, _| waited >= CALM)?;
        }
        self.print("done")
    }

    /// Waits until the situation is as given, and shows the changes of state.
    fn wait(&mut self, is_reached: impl Fn(Duration, &Inspection, &[Lane; 3]) -> bool) -> anyhow::Result<()> {
        let since = Instant::now();
        loop {
            if self.signals.recv_timeout(TICK).is_ok() {
                anyhow::bail!("interrupted");
            }
            // The breaker first: a change that it shows is then in the counts too.
            let breaker = self.breaker.inspect()?;
            let lanes = self.dependency.lanes();
            while let Some(observed) = self.transitions.next_timeout(Duration::ZERO)? {
                self.print(&format!("    halfopen: {}", explain(&observed.transition)))?;
            }
            if is_reached(since.elapsed(), &breaker, &lanes) {
                return Ok(());
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

    fn sum_up(self) -> anyhow::Result<u8> {
        let (lanes, took, counts) = (self.dependency.lanes(), self.started.elapsed(), self.workers.end()?);
        line("\nCalls that reached the dependency (a recovery: from its healing to its first success):\n")?;
        line(table(&lanes))?;
        line("")?;
        if lanes[SHARED].recoveries != [Recovery { calls: 0, probes: 1 }; OUTAGES] {
            line("FAILED: not exactly one probe reached the dependency at each recovery.")?;
            return Ok(FAILED);
        }
        line(format_args!(
            "With halfopen exactly one call, the probe, reached the dependency at each recovery.\n{} calls were deferred \
             instead. The demo took {}.",
            counts.deferred,
            text::duration(took)
        ))?;
        if counts.errors > 0 {
            line(format_args!("{} acquires or reports failed; see above.", counts.errors))?;
        }
        Ok(0)
    }
}

/// Whether no admitted call is under way, and none is due.
fn is_clear(breaker: &Inspection, lanes: &[Lane; 3]) -> bool {
    breaker.state == State::Open
        && breaker.next_due.is_some_and(|due| due.saturating_sub(breaker.at) > CLEAR_MS)
        && lanes[SHARED].in_flight == 0
}

/// A change of state in words.
fn explain(change: &Transition) -> String {
    let words = match (change.to, &change.reason) {
        (State::Open, TransitionReason::ConsecutiveFailures) => "5 failures in a row: OPEN, callers are deferred",
        (State::HalfOpen, TransitionReason::ProbeDue) => "a probe is due: HALF-OPEN, one caller probes",
        (State::Open, TransitionReason::ProbeFailed) => "the probe failed: OPEN again, for longer",
        (State::Closed, TransitionReason::ProbeSucceeded) => "the probe succeeded: CLOSED, all callers may call",
        (to, reason) => return format!("{to} ({reason})"),
    };
    words.to_owned()
}

/// The calls that reached the dependency in each lane.
fn table(lanes: &[Lane; 3]) -> String {
    let mut rows = Rows::new(&["", "while it was down", "at recovery 1", "at recovery 2"], &[1, 2, 3]);
    for (name, lane) in LANES.iter().zip(lanes) {
        let recoveries = lane.recoveries.iter().map(|recovery| recovery.calls + recovery.probes);
        let numbers = std::iter::once(lane.while_down).chain(recoveries).map(|number| number.to_string());
        rows.add([format!("  {name}")].into_iter().chain(numbers));
    }
    rows.render()
}
