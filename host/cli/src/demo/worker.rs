//! One worker process of the demo: callers that call the dependency now and then, the same number in each lane.
//!
//! It writes its counts when it is ready, and again at the end of its standard input, with which it ends.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use halfopen::{Breaker, BreakerError, Decision, Host, Outcome, Policy, Report};
use serde::{Deserialize, Serialize};

use super::dependency::{self, Role};
use crate::shell::output::{line, note};

/// The number of callers of a worker in each lane.
pub const CALLERS: usize = 25;

/// The pause of a caller between two calls, in ms.
const PAUSE_MS: std::ops::Range<u64> = 200..600;

/// The variable that makes the demo one of its workers; it holds a [`Task`].
pub const TASK_VARIABLE: &str = "HALFOPEN_DEMO_WORKER";

/// The name of the dependency.
pub const DEPENDENCY: &str = "the-dependency";

/// The policy of the breakers, the shared one and the one in each process.
pub fn policy() -> Policy {
    Policy::new()
        .consecutive_failures(5)
        .failure_rate_off()
        .open_ms(1_500)
        .open_max_ms(2_500)
        .open_multiplier(1.5)
        // Each outage begins with the first window.
        .stable_after_ms(0)
        // On a busy machine a short lease would expire.
        .lease_ms(15_000)
        .fresh_ms(50)
}

/// The task of a worker, as JSON in its environment.
#[derive(Debug, Deserialize, Serialize)]
pub struct Task {
    /// The ports of the dependency, one for each lane.
    pub ports: [u16; 3],
    /// The address of the shared store.
    pub store: String,
    /// The number of the worker.
    pub number: usize,
}

/// The counts of the callers of a breaker.
#[derive(Debug, Default, Deserialize, Serialize)]
pub struct Counts {
    /// Calls that were deferred.
    pub deferred: u64,
    /// Acquires and reports that failed.
    pub errors: u64,
}

#[derive(Default)]
struct Counters {
    deferred: AtomicU64,
    errors: AtomicU64,
}

impl Counters {
    fn write(&self) -> anyhow::Result<()> {
        let [deferred, errors] = [&self.deferred, &self.errors].map(|counter| counter.load(Ordering::Relaxed));
        line(serde_json::to_string(&Counts { deferred, errors })?)
    }

    fn count_error(&self, error: &BreakerError) {
        // Later errors are only counted.
        if self.errors.fetch_add(1, Ordering::Relaxed) == 0 {
            note(error);
        }
    }
}

/// The task of this process; none where it is not a worker.
pub fn task() -> anyhow::Result<Option<Task>> {
    let json = std::env::var(TASK_VARIABLE).ok();
    json.map(|json| serde_json::from_str(&json).context(TASK_VARIABLE)).transpose()
}

/// Runs the worker.
pub fn run(task: &Task) -> anyhow::Result<()> {
    let [bare, in_process, shared] = task.ports;
    let breaker = |address: &str| -> anyhow::Result<Breaker> {
        let builder = Host::builder().address(address).default_policy(policy());
        Ok(builder.caller(&format!("worker {}", task.number)).build()?.breaker(DEPENDENCY))
    };
    // The same breaker in both lanes; only what its store shares differs.
    let (own, common) = (breaker("memory")?, breaker(&task.store)?);
    let (own_counters, counters) = (Arc::new(Counters::default()), Arc::new(Counters::default()));
    for _ in 0..CALLERS {
        start_caller(move || {
            let _ = dependency::call(bare, Role::Call);
        })?;
        for (breaker, port, counters) in [(&own, in_process, &own_counters), (&common, shared, &counters)] {
            let (breaker, counters) = (breaker.clone(), Arc::clone(counters));
            start_caller(move || call(&breaker, port, &counters))?;
        }
    }
    counters.write()?;
    io::stdin().lines().for_each(drop);
    counters.write()
}

/// Starts a caller: it calls, pauses, and calls again.
fn start_caller(call: impl Fn() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().stack_size(512 * 1024).spawn(move || {
        // Spread over time, or all callers would begin at once.
        thread::sleep(Duration::from_millis(fastrand::u64(0..PAUSE_MS.end)));
        loop {
            call();
            thread::sleep(Duration::from_millis(fastrand::u64(PAUSE_MS)));
        }
    })?;
    Ok(())
}

fn call(breaker: &Breaker, port: u16, counters: &Counters) {
    let (permit, role) = match breaker.acquire() {
        Ok(Decision::Proceed(permit)) => (permit, Role::Call),
        Ok(Decision::Probe(permit)) => (permit, Role::Probe),
        Ok(Decision::Defer(_)) => {
            counters.deferred.fetch_add(1, Ordering::Relaxed);
            return;
        }
        Err(error) => return counters.count_error(&error),
    };
    let keeper = permit.keep_alive();
    let started = Instant::now();
    let outcome = if dependency::call(port, role).unwrap_or(false) { Outcome::Success } else { Outcome::Failure };
    drop(keeper);
    if let Err(error) = permit.report(Report::new(outcome).took(started.elapsed())) {
        counters.count_error(&error);
    }
}
