//! What becomes of the outcomes of calls that were admitted without a lease.

use std::sync::Arc;
use std::time::Duration;

use super::look::Terms;
use super::{Due, Local};
use crate::breaker::{Breaker, millis};
use crate::error::BreakerError;
use crate::events;
use crate::op::Call;
use crate::recorded::Recorded;
use crate::wire::{Outcome, Permit, Receipt, Tally};

/// What a call without a lease was admitted under.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted {
    pub epoch: u64,
    /// Where its success is counted; none where it is reported at once.
    pub generation: Option<u32>,
    pub slower_than: Option<Duration>,
}

impl Admitted {
    fn permit(&self) -> Permit {
        Permit { epoch: self.epoch, lease: None }
    }

    /// What reports an outcome, with the successes before it.
    fn call(&self, outcome: Outcome, took: Option<Duration>, before: Option<Due>) -> Call {
        match before.and_then(|before| self.tally(outcome, took, Some(before))) {
            Some(tally) => Call::ReportTally { permit: self.permit(), tally },
            None => Call::Report { permit: self.permit(), outcome, took: took.map(millis) },
        }
    }

    /// An outcome and the successes before it; none where it counts nowhere.
    fn tally(&self, outcome: Outcome, took: Option<Duration>, before: Option<Due>) -> Option<Tally> {
        let before = before.map_or_else(Tally::default, |before| before.tally());
        let (plain, slow) = match Terms::is_slow(self.slower_than, took) {
            false => (1, 0),
            true => (0, 1),
        };
        match outcome {
            Outcome::Ignored => None,
            Outcome::Success => Some(Tally {
                successes: before.successes + plain,
                slow_successes: before.slow_successes + slow,
                ..before
            }),
            Outcome::Failure | Outcome::Timeout => Some(Tally { failures: plain, slow_failures: slow, ..before }),
        }
    }
}

impl Breaker {
    /// Records an outcome: a success in memory, where it may be; a failure in the store, with the successes before it.
    #[inline]
    pub(crate) fn record(
        &self,
        admitted: Admitted,
        outcome: Outcome,
        took: Option<Duration>,
    ) -> Result<Recorded, BreakerError> {
        if self.record_here(admitted, outcome, took) {
            return Ok(if outcome == Outcome::Success { Recorded::Later } else { Recorded::Nothing });
        }
        self.record_there(admitted, outcome, took)
    }

    /// Counts a success that is not slow, where it may be counted in memory.
    #[inline(always)]
    pub(crate) fn count_here(&self, generation: u32) -> bool {
        let Some(local) = &self.handle.local else { return false };
        let counted = local.count(generation, false);
        if counted && !local.has_timer() {
            self.see_to(local);
        }
        counted
    }

    /// Whether the outcome needs no word to the store now.
    #[inline]
    pub(crate) fn record_here(&self, admitted: Admitted, outcome: Outcome, took: Option<Duration>) -> bool {
        let (Some(local), Some(generation)) = (&self.handle.local, admitted.generation) else { return false };
        match outcome {
            Outcome::Success => {
                if !local.count(generation, Terms::is_slow(admitted.slower_than, took)) {
                    return false;
                }
                if !local.has_timer() {
                    self.see_to(local);
                }
                true
            }
            // It counts nowhere; whether it is stale is for the component to say once the look has ended.
            Outcome::Ignored => self.still_holds(local, generation),
            Outcome::Failure | Outcome::Timeout => false,
        }
    }

    fn still_holds(&self, local: &Local, generation: u32) -> bool {
        let inner = &*self.handle.host.inner;
        inner.local.as_ref().is_some_and(|admission| local.holds(generation, &*inner.clock, admission.lag))
    }

    /// Reports to the component: now, or where the store cannot be reached later; then it is kept until it can.
    pub(crate) fn record_there(
        &self,
        admitted: Admitted,
        outcome: Outcome,
        took: Option<Duration>,
    ) -> Result<Recorded, BreakerError> {
        let inner = &self.handle.host.inner;
        let kept = |before: Option<Due>| match admitted.tally(outcome, took, before) {
            Some(tally) => {
                inner.keep_tally(&self.handle.dependency, admitted.epoch, tally);
                Recorded::Later
            }
            None => Recorded::Nothing,
        };
        inner.deliver_before(self.dependency());
        let before = self.counted_before(admitted, outcome);
        if inner.reports_wait() {
            return Ok(kept(before));
        }
        match self.receipt(admitted.call(outcome, took, before)) {
            Err(error) if error.is_outage() && error.surely_changed_nothing() => {
                events::undelivered(&inner.namespace, self.dependency(), &error);
                Ok(kept(before))
            }
            Err(error) => {
                self.keep_counts(before, &error);
                Err(error)
            }
            Ok(receipt) => Ok(Recorded::Now(receipt)),
        }
    }

    /// Reports to the component now, and once.
    pub(crate) fn report_there(
        &self,
        admitted: Admitted,
        outcome: Outcome,
        took: Option<Duration>,
    ) -> Result<Receipt, BreakerError> {
        self.handle.host.inner.deliver_before(self.dependency());
        let before = self.counted_before(admitted, outcome);
        self.receipt(admitted.call(outcome, took, before)).inspect_err(|error| self.keep_counts(before, error))
    }

    /// The successes that go with a failure, in one write.
    fn counted_before(&self, admitted: Admitted, outcome: Outcome) -> Option<Due> {
        let failed = matches!(outcome, Outcome::Failure | Outcome::Timeout);
        let before = self.handle.local.as_ref().filter(|_| failed)?.drain()?;
        if before.epoch == admitted.epoch {
            return Some(before);
        }
        self.settle(Some(before));
        None
    }

    /// Keeps successes that went with a report which failed.
    fn keep_counts(&self, before: Option<Due>, error: &BreakerError) {
        if let Some(before) = before {
            self.handle.host.inner.keep_counts(&self.handle.dependency, before, error);
        }
    }

    /// Hands over what this process has counted, so that who speaks to the store sees it. What the store will not take
    /// stays counted; the operation that follows will say so itself.
    pub(crate) fn settle_counts(&self) {
        let inner = &self.handle.host.inner;
        inner.deliver_before(self.dependency());
        if let Some(local) = &self.handle.local {
            inner.hand_over(local, None);
        }
    }

    /// Sees to it that what is counted is handed over.
    #[cold]
    fn see_to(&self, local: &Arc<Local>) {
        self.handle.host.inner.arm(local);
    }

    /// Hands over what an end of a look has left.
    pub(crate) fn settle(&self, due: Option<Due>) {
        if let (Some(local), Some(due)) = (&self.handle.local, due) {
            self.handle.host.inner.hand_in(local, due, None);
        }
    }
}
