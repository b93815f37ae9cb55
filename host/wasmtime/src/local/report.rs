//! What becomes of the outcomes of calls that were admitted without a lease.

use std::sync::Arc;
use std::time::Duration;

use super::look::Terms;
use super::{Due, Local};
use crate::breaker::{Breaker, millis};
use crate::error::BreakerError;
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
        self.record_there(admitted, outcome, took).map(Recorded::Now)
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

    /// Reports to the component now; a failure in one write with the successes before it.
    pub(crate) fn record_there(
        &self,
        admitted: Admitted,
        outcome: Outcome,
        took: Option<Duration>,
    ) -> Result<Receipt, BreakerError> {
        let permit = Permit { epoch: admitted.epoch, lease: None };
        let alone = || self.receipt(Call::Report { permit, outcome, took: took.map(millis) });
        let failed = matches!(outcome, Outcome::Failure | Outcome::Timeout);
        let Some(local) = self.handle.local.as_ref().filter(|_| failed) else { return alone() };
        match local.drain() {
            None => alone(),
            Some(before) if before.epoch == permit.epoch => {
                let slow = Terms::is_slow(admitted.slower_than, took);
                let tally = Tally { failures: (!slow).into(), slow_failures: slow.into(), ..before.tally() };
                self.receipt(Call::ReportTally { permit, tally }).inspect_err(|error| local.put_back(before, error))
            }
            Some(other) => {
                self.settle(Some(other));
                alone()
            }
        }
    }

    /// Hands over what this process has counted, so that who speaks to the store sees it. What the store will not take
    /// stays counted; the operation that follows will say so itself.
    pub(crate) fn settle_counts(&self) {
        if let Some(local) = &self.handle.local {
            self.handle.host.inner.hand_over(local, None);
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
