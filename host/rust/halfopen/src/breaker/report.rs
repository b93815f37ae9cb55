use halfopen_contract::BreakerError;
use halfopen_contract::engine::Operation;
use halfopen_contract::types::{Outcome, Permit, Receipt, Report, Tally};

use super::handle::Breaker;

impl Breaker {
    /// Reports the outcome of a call made under a permit. This always runs the operation, after flushing the successes that
    /// are counted in memory.
    ///
    /// A report with a lease may be repeated: it counts once. A report without one must not be repeated once it may have
    /// reached the store.
    ///
    /// # Errors
    /// [`BreakerError`]. A report that came too late is no error: see [`Receipt::verdict`].
    pub fn report(&self, permit: Permit, report: impl Into<Report>) -> Result<Receipt, BreakerError> {
        let report = self.attributed(report.into());
        let failed = permit.lease.is_none() && is_failure(report.outcome);
        let local = self.handle.local.as_ref().filter(|_| failed);
        if let Some(admitted) = local.and_then(|local| local.admitted(permit.epoch)) {
            return self.report_once(admitted, report);
        }
        self.flush();
        self.receipt(Operation::Report { permit, report })
    }

    /// Reports the outcomes of many closed-state calls at once. They are judged once, after all of them are counted.
    pub fn report_tally(&self, permit: Permit, mut tally: Tally) -> Result<Receipt, BreakerError> {
        if tally.caller.is_empty() && tally.failures + tally.slow_failures > 0 {
            tally.caller = self.handle.caller.to_string();
        }
        self.flush();
        self.receipt(Operation::ReportTally { permit, tally })
    }

    /// Starts a live lease again. It never lasts longer than the policy's `probe_max_ms` after its grant.
    pub fn renew(&self, permit: Permit) -> Result<Receipt, BreakerError> {
        self.receipt(Operation::Renew { permit })
    }

    /// Gives a permit back unused; the same as reporting [`Outcome::Ignored`].
    pub fn release(&self, permit: Permit) -> Result<Receipt, BreakerError> {
        self.receipt(Operation::Release { permit })
    }

    /// A report whose caller is that of this handle, where it is a failure and has no other.
    pub(super) fn attributed(&self, mut report: Report) -> Report {
        if report.caller.is_empty() && is_failure(report.outcome) {
            report.caller = self.handle.caller.to_string();
        }
        report
    }
}

/// Whether an outcome counts as a failure.
pub(super) fn is_failure(outcome: Outcome) -> bool {
    matches!(outcome, Outcome::Failure | Outcome::Timeout)
}
