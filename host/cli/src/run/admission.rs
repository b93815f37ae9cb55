//! The permit of a run: acquired, with `--wait` again after each wait.

use std::time::{Duration, Instant};

use anyhow::Error;
use halfopen::{Decision, DeferReason, Deferral, OnStoreError, PermitGuard};

use super::report::Pauses;
use super::session::Session;
use crate::exit::{Code, code_of};
use crate::process::Interruptible;
use crate::shell::text;

/// The shortest wait before a retry, also where the breaker answers with a shorter one.
const SHORTEST_WAIT: Duration = Duration::from_millis(50);

/// The longest wait: an operator may have reset the breaker.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// Why the command is not started.
pub enum NotAdmitted {
    Deferred,
    Interrupted(i32),
}

/// A wait that was written to stderr: its reason and its end.
type Announced = Option<(DeferReason, Instant)>;

impl Session<'_> {
    /// Acquires a permit; with `--wait` retries after each deferral, with `--store-retry` while the store is not available.
    pub fn acquire(&self) -> anyhow::Result<Result<PermitGuard, NotAdmitted>> {
        let started = Instant::now();
        let mut announced = None;
        let mut outage: Option<(Instant, Pauses)> = None;
        loop {
            let is_retried = self
                .args
                .store_retry
                .is_some_and(|limit| outage.as_ref().is_none_or(|(since, _)| since.elapsed() < limit));
            let choice = if is_retried { OnStoreError::FailClosed } else { self.on_store_error() };
            let decision = match self.with_breaker(choice, |breaker| Ok(breaker.acquire()?)) {
                Interruptible::Done(decision) => decision,
                // A permit that has arrived is released here.
                Interruptible::Interrupted { signal, .. } => return Ok(Err(NotAdmitted::Interrupted(signal))),
            };
            let wait = match decision {
                Ok(Decision::Proceed(guard) | Decision::Probe(guard)) => return Ok(Ok(guard)),
                Ok(Decision::Defer(deferral)) => {
                    outage = None;
                    match self.wait_after(&deferral, started, &mut announced) {
                        Some(wait) => wait,
                        None => return Ok(Err(NotAdmitted::Deferred)),
                    }
                }
                Err(error) if is_retried && code_of(&error) == Code::Unavailable => {
                    outage.get_or_insert_with(|| (Instant::now(), Pauses::default())).1.next()
                }
                Err(error) => return Err(self.not_waited_for(error)),
            };
            if let Some(signal) = self.supervisor.sleep(wait) {
                return Ok(Err(NotAdmitted::Interrupted(signal)));
            }
        }
    }

    /// Whether the command is started although nothing can be recorded: where the cause is in the surroundings.
    pub fn runs_without(&self, error: &Error) -> bool {
        self.on_store_error() == OnStoreError::FailOpen && [Code::Unavailable, Code::Config].contains(&code_of(error))
    }

    /// The error, with a hint where `--wait` does not help.
    fn not_waited_for(&self, error: Error) -> Error {
        if self.args.wait && code_of(&error) == Code::Unavailable {
            error.context("--wait waits for the dependency, not for the store (see --store-retry)")
        } else {
            error
        }
    }

    /// The time to wait before the next acquire; none where the run gives up. Writes the reason and the time.
    fn wait_after(&self, deferral: &Deferral, started: Instant, announced: &mut Announced) -> Option<Duration> {
        let due_in = match deferral.reason {
            // What is forced has an end without a spread.
            DeferReason::ForcedOpen => Duration::from_millis(deferral.retry_after),
            _ => deferral.wait(),
        };
        let due_in = due_in.max(SHORTEST_WAIT);
        let (why, shown) = (deferral.reason.explained(), text::duration(due_in));
        if !self.args.wait {
            self.say(&format!("not started: {why}; retry in {shown}"));
            return None;
        }
        let left = self.args.max_wait.map(|most| most.saturating_sub(started.elapsed()));
        if left.is_some_and(|left| left < due_in) {
            self.say(&format!("not started: {why}; retry in {shown}, which is longer than --max-wait allows"));
            return None;
        }
        let is_known =
            announced.as_ref().is_some_and(|(reason, end)| *reason == deferral.reason && Instant::now() < *end);
        if !is_known {
            self.say(&format!("{why}; retrying in {shown}"));
            *announced = Some((deferral.reason.clone(), Instant::now() + due_in));
        }
        Some(due_in.min(LONGEST_WAIT))
    }

    /// Warns that `--timeout` allows a probe more time than its lease can last. Only a probe reads the policy for that.
    pub fn warn_of_a_long_limit(&self) -> Result<(), i32> {
        let Some(timeout) = self.args.timeout.filter(|_| !self.args.quiet) else { return Ok(()) };
        if let Some(longest) = self.probe_max()?
            && timeout > longest
        {
            let (shown, limit) = (text::duration(longest), text::duration(timeout));
            self.say(&format!(
                "the result of a probe that takes longer than {shown} (probe_max_ms) does not count, and --timeout allows \
                 {limit}; {}",
                self.longer_probes(timeout)
            ));
        }
        Ok(())
    }

    /// The longest time that a probe can take, by the policy; none where it cannot be read. An error is a signal to end.
    pub fn probe_max(&self) -> Result<Option<Duration>, i32> {
        let policy = match self.with_breaker(OnStoreError::FailClosed, |breaker| Ok(breaker.policy()?)) {
            Interruptible::Done(policy) => policy,
            Interruptible::Interrupted { signal, .. } => return Err(signal),
        };
        let longest = policy.ok().and_then(|found| found.policy.get("probe_max_ms")?.as_u64());
        Ok(longest.map(Duration::from_millis))
    }

    /// The remedy where probes take this time.
    pub fn longer_probes(&self, time: Duration) -> String {
        let minutes = time.as_secs() / 60 + 1;
        format!("allow longer ones: halfopen policy set {} probe_max={minutes}m", self.args.dependency)
    }
}
