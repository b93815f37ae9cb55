//! One worker process of the demo: callers that each want something of the dependency now and then, in each of the lanes
//! alike.
//!
//! It says that it is ready on its standard output, and starts when it is told to on its standard input; then it tells
//! its counts a few times a second. When its standard input ends, so does it.

use std::io::{self, BufRead as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use halfopen::{Breaker, Decision, Host, Outcome};
use serde::{Deserialize, Serialize};

use super::http::{self, Role};
use super::in_process::{self, Permission};
use super::lane::{Lane, PerLane};
use super::{DEPENDENCY, rules};

/// How many callers a worker has in each lane.
pub const CALLERS: usize = 25;

/// How long a caller has other things to do between two calls, in ms.
const PAUSE_MS: std::ops::Range<u64> = 200..600;

/// How often a worker tells its counts.
const TELL: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub struct WorkerArgs {
    /// The ports of the dependency, as JSON.
    #[arg(long)]
    pub ports: String,
    /// The SQLite file.
    #[arg(long)]
    pub file: PathBuf,
    /// Which worker this is.
    #[arg(long)]
    pub number: usize,
}

/// What a worker tells of the halfopen lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct Told {
    /// Callers that were told to come back later.
    pub deferred: u64,
    /// Questions and reports that failed.
    pub errors: u64,
}

#[derive(Debug, Default)]
struct Counts {
    deferred: AtomicU64,
    errors: AtomicU64,
}

/// The process.
pub fn main(args: &WorkerArgs) -> anyhow::Result<()> {
    let ports: PerLane<u16> = serde_json::from_str(&args.ports).context("--ports")?;
    let file = args.file.to_str().context("--file is not UTF-8")?;
    let host = Host::builder()
        .address(&format!("sqlite:{file}"))
        .default_policy(rules::policy())
        .caller(&format!("worker {}", args.number))
        .build()?;
    let breaker = host.breaker(DEPENDENCY);
    let counts = Arc::new(Counts::default());
    say(&Told::default())?;
    let mut orders = io::stdin().lock().lines();
    if orders.next().is_none() {
        return Ok(());
    }
    let in_process = Arc::new(in_process::Breaker::default());
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
    let telling = Arc::clone(&counts);
    thread::Builder::new().spawn(move || {
        loop {
            let told = Told {
                deferred: telling.deferred.load(Ordering::Relaxed),
                errors: telling.errors.load(Ordering::Relaxed),
            };
            if say(&told).is_err() {
                return;
            }
            thread::sleep(TELL);
        }
    })?;
    orders.for_each(drop);
    Ok(())
}

fn say(told: &Told) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", serde_json::to_string(told)?)?;
    Ok(out.flush()?)
}

/// A caller: something comes up, it wants to call, and then it has other things to do.
fn caller(call: impl Fn() + Send + 'static) -> io::Result<()> {
    let idle = || thread::sleep(Duration::from_millis(fastrand::u64(PAUSE_MS)));
    thread::Builder::new().stack_size(512 * 1024).spawn(move || {
        // Not all at once at the beginning.
        thread::sleep(Duration::from_millis(fastrand::u64(0..PAUSE_MS.end)));
        loop {
            call();
            idle();
        }
    })?;
    Ok(())
}

fn call_in_process(breaker: &in_process::Breaker, port: u16) {
    let Some(permission) = breaker.ask(Instant::now()) else { return };
    let role = match permission {
        Permission::Call => Role::Call,
        Permission::Probe => Role::Probe,
    };
    let success = http::call(port, role).unwrap_or(false);
    breaker.report(permission, success, Instant::now());
}

fn call_shared(breaker: &Breaker, port: u16, counts: &Counts) {
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
    if let Err(error) = permit.report(outcome, Some(started.elapsed())) {
        failed(counts, &error);
    }
}

fn failed(counts: &Counts, error: &halfopen::BreakerError) {
    // The first one is enough to see what is wrong.
    if counts.errors.fetch_add(1, Ordering::Relaxed) == 0 {
        crate::output::note(error);
    }
}
