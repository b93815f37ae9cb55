//! One worker process of the demo: callers that call the dependency now and then, the same number in each lane.
//!
//! It writes a line to its standard output when it is ready, starts at the first line on its standard input, and then
//! writes its counts a few times a second. It ends with its standard input.

use std::io::{self, BufRead as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use halfopen::{Breaker, Decision, Host, Outcome, Report};
use serde::{Deserialize, Serialize};

use super::http::{self, Role};
use super::in_process::{InProcessBreaker, Permission};
use super::lane::{Lane, PerLane};
use super::rules;

/// The number of callers of a worker in each lane.
pub const CALLERS: usize = 25;

/// The pause of a caller between two calls, in ms.
const PAUSE_MS: std::ops::Range<u64> = 200..600;

/// The interval at which a worker writes its counts.
const COUNTS_INTERVAL: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// The ports of the dependency, as JSON
    #[arg(long)]
    pub ports: String,
    /// The SQLite file of the breakers
    #[arg(long)]
    pub file: PathBuf,
    /// The number of the worker
    #[arg(long)]
    pub number: usize,
}

/// The counts of a worker in the halfopen lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct WorkerCounts {
    /// Calls that were deferred.
    pub deferred: u64,
    /// Acquires and reports that failed.
    pub errors: u64,
}

#[derive(Debug, Default)]
struct Counters {
    deferred: AtomicU64,
    errors: AtomicU64,
}

/// Runs the process.
pub fn main(args: &WorkerArgs) -> anyhow::Result<()> {
    let ports: PerLane<u16> = serde_json::from_str(&args.ports).context("--ports")?;
    let file = args.file.to_str().context("--file is not UTF-8")?;
    let host = Host::builder()
        .address(&format!("sqlite:{file}"))
        .default_policy(rules::policy())
        .caller(&format!("worker {}", args.number))
        .build()?;
    let breaker = host.breaker(rules::DEPENDENCY);
    let counts = Arc::new(Counters::default());
    write(&WorkerCounts::default())?;
    let mut orders = io::stdin().lock().lines();
    if orders.next().is_none() {
        return Ok(());
    }
    let in_process = Arc::new(InProcessBreaker::default());
    for _ in 0..CALLERS {
        let (bare, port) = (*ports.get(Lane::Bare), *ports.get(Lane::InProcess));
        caller(move || {
            let _ = http::call(bare, Role::Call);
        })?;
        let guarded = Arc::clone(&in_process);
        caller(move || call_in_process(&guarded, port))?;
        let (breaker, counts, port) = (breaker.clone(), Arc::clone(&counts), *ports.get(Lane::Shared));
        caller(move || call_shared(&breaker, port, &counts))?;
    }
    let written = Arc::clone(&counts);
    thread::Builder::new().spawn(move || {
        loop {
            let newest = WorkerCounts {
                deferred: written.deferred.load(Ordering::Relaxed),
                errors: written.errors.load(Ordering::Relaxed),
            };
            if write(&newest).is_err() {
                return;
            }
            thread::sleep(COUNTS_INTERVAL);
        }
    })?;
    orders.for_each(drop);
    Ok(())
}

fn write(counts: &WorkerCounts) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(counts)?)?;
    Ok(out.flush()?)
}

/// Starts a caller: it calls, pauses, and calls again.
fn caller(call: impl Fn() + Send + 'static) -> io::Result<()> {
    let idle = || thread::sleep(Duration::from_millis(fastrand::u64(PAUSE_MS)));
    thread::Builder::new().stack_size(512 * 1024).spawn(move || {
        // Spread over time, or all callers would begin at once.
        thread::sleep(Duration::from_millis(fastrand::u64(0..PAUSE_MS.end)));
        loop {
            call();
            idle();
        }
    })?;
    Ok(())
}

fn call_in_process(breaker: &InProcessBreaker, port: u16) {
    let Some(permission) = breaker.acquire(Instant::now()) else { return };
    let role = match permission {
        Permission::Call => Role::Call,
        Permission::Probe => Role::Probe,
    };
    let success = http::call(port, role).unwrap_or(false);
    breaker.report(permission, success, Instant::now());
}

fn call_shared(breaker: &Breaker, port: u16, counts: &Counters) {
    let (permit, role) = match breaker.acquire() {
        Ok(Decision::Proceed(permit)) => (permit, Role::Call),
        Ok(Decision::Probe(permit)) => (permit, Role::Probe),
        Ok(Decision::Defer(_)) => {
            counts.deferred.fetch_add(1, Ordering::Relaxed);
            return;
        }
        Err(error) => return failed(counts, &error),
    };
    let keeper = permit.keep_alive();
    let started = Instant::now();
    let outcome = if http::call(port, role).unwrap_or(false) { Outcome::Success } else { Outcome::Failure };
    drop(keeper);
    if let Err(error) = permit.report(Report::new(outcome).took(started.elapsed())) {
        failed(counts, &error);
    }
}

fn failed(counts: &Counters, error: &halfopen::BreakerError) {
    // Later errors are only counted.
    if counts.errors.fetch_add(1, Ordering::Relaxed) == 0 {
        crate::shell::output::note(error);
    }
}
