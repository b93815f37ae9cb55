use std::sync::Arc;

use halfopen_contract::BreakerError;
use halfopen_contract::engine::Operation;
use halfopen_contract::types::{Outcome, Permit, Receipt, Report, Tally};

use super::handle::Breaker;
use super::report::is_failure;
use crate::events;
use crate::local_admission::{Added, Admitted, DueSuccesses, LocalBreaker};

/// The place of the outcome of a call, once [`PermitGuard::report`](crate::PermitGuard::report) returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// In the store, or stale: the receipt says so.
    Now(Receipt),
    /// In this process's memory, among the successes that are flushed with the next failure, when the cached decision ends
    /// (after at most `fresh_ms`; a few ms later where no call comes), or when the last handle goes. Whether they count is
    /// decided then. A crash before that loses them.
    ///
    /// Also here: any outcome that the store, being unavailable, did not take. It is retried at least once a second while it
    /// can count, that is, for a probe until its lease has ended, for other calls for a minute. When the last handle goes it
    /// is tried once more.
    Later,
    /// Nowhere: an ignored call without a lease counts nowhere.
    Nothing,
}

impl Recorded {
    /// Whether the store has counted it. False for [`Later`](Recorded::Later).
    pub fn is_applied(&self) -> bool {
        matches!(self, Recorded::Now(receipt) if receipt.is_applied())
    }

    /// The receipt, where there is one by now.
    pub fn receipt(&self) -> Option<&Receipt> {
        match self {
            Recorded::Now(receipt) => Some(receipt),
            Recorded::Later | Recorded::Nothing => None,
        }
    }
}

impl Breaker {
    /// Records an outcome: a success in memory, where it may be; a failure in the store, with the successes before it.
    #[inline]
    pub(super) fn record(&self, admitted: Admitted, report: Report) -> Result<Recorded, BreakerError> {
        match self.record_in_memory(admitted, report.outcome, report.took) {
            Some(recorded) => Ok(recorded),
            None => self.record_in_store(admitted, report),
        }
    }

    /// Counts a success that is not slow, where it may be counted in memory.
    #[inline(always)]
    pub(super) fn count(&self, generation: u32, slow: bool) -> bool {
        let Some(local) = &self.handle.local else { return false };
        match local.count(generation, slow) {
            Added::Counted => true,
            Added::NeedsTimer => {
                self.set_timer(local);
                true
            }
            Added::Refused => false,
        }
    }

    /// Records an outcome that needs no operation now; none where it does.
    #[inline]
    pub(super) fn record_in_memory(&self, admitted: Admitted, outcome: Outcome, took: Option<u64>) -> Option<Recorded> {
        let generation = admitted.generation?;
        match outcome {
            Outcome::Success => self.count(generation, admitted.is_slow(took)).then_some(Recorded::Later),
            // It counts nowhere; whether it is stale is decided by the engine once the decision has ended.
            Outcome::Ignored => self.still_holds(generation).then_some(Recorded::Nothing),
            Outcome::Failure | Outcome::Timeout => None,
        }
    }

    fn still_holds(&self, generation: u32) -> bool {
        self.handle.local.as_ref().is_some_and(|local| local.holds(generation, &*self.handle.inner.clock))
    }

    /// Reports an outcome now, or where the store cannot be reached later: then it waits in the outbox.
    pub(super) fn record_in_store(&self, admitted: Admitted, report: Report) -> Result<Recorded, BreakerError> {
        let report = self.attributed(report);
        let outbox = &self.handle.inner.outbox;
        outbox.deliver_before(self.dependency());
        let before = self.successes_before(admitted, report.outcome);
        let postpone = |report: Report| match tally(admitted, report, before) {
            Some(tally) => {
                outbox.add_tally(&self.handle.dependency, admitted.epoch, tally);
                Recorded::Later
            }
            None => Recorded::Nothing,
        };
        if outbox.reports_wait() {
            return Ok(postpone(report));
        }
        match self.receipt(operation(admitted, report.clone(), before)) {
            Err(error) if error.is_outage() && error.changed_nothing() => {
                events::postponed(self.handle.inner.namespace(), self.dependency(), &error);
                Ok(postpone(report))
            }
            Err(error) => {
                self.keep(before, &error);
                Err(error)
            }
            Ok(receipt) => Ok(Recorded::Now(receipt)),
        }
    }

    /// Reports an outcome now, and once.
    pub(super) fn report_once(&self, admitted: Admitted, report: Report) -> Result<Receipt, BreakerError> {
        self.handle.inner.outbox.deliver_before(self.dependency());
        let before = self.successes_before(admitted, report.outcome);
        self.receipt(operation(admitted, report, before)).inspect_err(|error| self.keep(before, error))
    }

    /// The successes that go with a failure, in one write.
    fn successes_before(&self, admitted: Admitted, outcome: Outcome) -> Option<DueSuccesses> {
        let before = self.handle.local.as_ref().filter(|_| is_failure(outcome))?.drain()?;
        if before.epoch == admitted.epoch {
            return Some(before);
        }
        self.report_successes(Some(before));
        None
    }

    /// Keeps successes that went with a report which failed.
    fn keep(&self, before: Option<DueSuccesses>, error: &BreakerError) {
        if let Some(before) = before {
            self.handle.inner.outbox.keep_successes(&self.handle.dependency, before, error);
        }
    }

    #[cold]
    fn set_timer(&self, local: &Arc<LocalBreaker>) {
        self.handle.inner.outbox.set_timer(local);
    }
}

/// The operation that reports an outcome, with the successes before it: a tally, which reports that wait can be merged into.
fn operation(admitted: Admitted, report: Report, before: Option<DueSuccesses>) -> Operation {
    let permit = Permit { epoch: admitted.epoch, lease: None };
    match tally(admitted, report.clone(), before) {
        Some(tally) => Operation::ReportTally { permit, tally },
        None => Operation::Report { permit, report },
    }
}

/// An outcome and the successes before it; none where it counts nowhere.
fn tally(admitted: Admitted, report: Report, before: Option<DueSuccesses>) -> Option<Tally> {
    let before = before.map_or_else(Tally::default, |before| before.tally());
    let (plain, slow) = if admitted.is_slow(report.took) { (0, 1) } else { (1, 0) };
    match report.outcome {
        Outcome::Ignored => None,
        Outcome::Success => {
            Some(Tally { successes: before.successes + plain, slow_successes: before.slow_successes + slow, ..before })
        }
        Outcome::Failure | Outcome::Timeout => Some(Tally {
            failures: plain,
            slow_failures: slow,
            caller: report.caller,
            cause: report.cause,
            retry_after: report.retry_after,
            ..before
        }),
    }
}
