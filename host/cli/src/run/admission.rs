//! The permit of a run: acquired, with `--wait` again after each wait.

use std::time::{Duration, Instant};

use anyhow::Error;
use halfopen::{Breaker, Decision, Host, OnStoreError, PermitGuard};
use rustix::process::Signal;

use super::session::Session;
use crate::args::{Global, OnStoreError as Choice};
use crate::exit::{Code, code_of};
use crate::host;
use crate::process::Interruptible;
use crate::shell::text;

/// The shortest wait before a retry, also where the breaker answers with a shorter one.
const SHORTEST_WAIT: Duration = Duration::from_millis(50);

/// A permit.
pub struct Admitted {
    pub guard: PermitGuard,
    /// The length of the lease, for a probe.
    pub lease: Option<Duration>,
}

/// Why the command is not started.
pub enum NotAdmitted {
    Deferred,
    Interrupted(Signal),
}

impl Session<'_> {
    /// Opens the host.
    pub fn open(&self, global: &Global) -> Interruptible<anyhow::Result<Host>> {
        let on_store_error = match self.args.on_store_error {
            Choice::FailClosed => OnStoreError::FailClosed,
            Choice::FailOpen => OnStoreError::FailOpen,
        };
        let global = global.clone();
        match self.supervisor.during(move || host::open_for_run(&global, on_store_error)) {
            Interruptible::Done(opened) => Interruptible::Done(opened.map_err(|error| self.not_waited_for(error))),
            interrupted => interrupted,
        }
    }

    /// Acquires a permit; with `--wait` retries after each deferral.
    pub fn acquire(&self, breaker: &Breaker) -> anyhow::Result<Result<Admitted, NotAdmitted>> {
        let started = Instant::now();
        loop {
            let acquiring = breaker.clone();
            let decision = match self.supervisor.during(move || acquiring.acquire()) {
                Interruptible::Done(decision) => decision.map_err(|error| self.not_waited_for(error.into()))?,
                // A permit that has arrived is released here.
                Interruptible::Interrupted { signal, .. } => return Ok(Err(NotAdmitted::Interrupted(signal))),
            };
            let deferral = match decision {
                Decision::Proceed(guard) | Decision::Probe(guard) => {
                    return Ok(Ok(Admitted { lease: guard.expires_in(), guard }));
                }
                Decision::Defer(deferral) => deferral,
            };
            let wait = deferral.wait().max(SHORTEST_WAIT);
            if !self.waits(deferral.reason.explained(), wait, started) {
                return Ok(Err(NotAdmitted::Deferred));
            }
            if let Some(signal) = self.supervisor.sleep(wait) {
                return Ok(Err(NotAdmitted::Interrupted(signal)));
            }
        }
    }

    /// The error, with a hint where `--wait` does not help.
    fn not_waited_for(&self, error: Error) -> Error {
        if self.args.wait && code_of(&error) == Code::Unavailable {
            error.context("--wait waits for the dependency, not for the store")
        } else {
            error
        }
    }

    /// Whether to wait and retry. Writes the reason and the wait in either case.
    fn waits(&self, why: &str, wait: Duration, started: Instant) -> bool {
        let shown = text::duration(wait);
        if !self.args.wait {
            self.say(&format!("not started: {why}; retry in {shown}"));
            return false;
        }
        let left = self.args.max_wait.map(|most| most.saturating_sub(started.elapsed()));
        if left.is_some_and(|left| left < wait) {
            self.say(&format!("not started: {why}; retry in {shown}, which is longer than --max-wait allows"));
            return false;
        }
        self.say(&format!("{why}; retrying in {shown}"));
        true
    }

    /// Warns that `--timeout` allows a probe more time than its lease can last. Only a probe reads the policy for that.
    pub fn warn_of_a_long_limit(&self, breaker: &Breaker) -> Result<(), Signal> {
        let Some(timeout) = self.args.timeout.filter(|_| !self.args.quiet) else { return Ok(()) };
        let reading = breaker.clone();
        let policy = match self.supervisor.during(move || reading.policy()) {
            Interruptible::Done(policy) => policy,
            Interruptible::Interrupted { signal, .. } => return Err(signal),
        };
        let longest = policy.ok().and_then(|found| found.policy.get("probe_max_ms")?.as_u64());
        let Some(longest) = longest.map(Duration::from_millis) else { return Ok(()) };
        if timeout > longest {
            let (longest, timeout) = (text::duration(longest), text::duration(timeout));
            self.say(&format!(
                "the result of a probe that takes longer than {longest} (probe_max_ms) does not count, and --timeout \
                 allows {timeout}"
            ));
        }
        Ok(())
    }
}
