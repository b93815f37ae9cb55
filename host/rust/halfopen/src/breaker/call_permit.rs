use std::time::Duration;

use halfopen_contract::BreakerError;
use halfopen_contract::types::{Deferral, Outcome, Report};

use super::acquire::{Acquired, Decision};
use super::handle::Breaker;
use super::lease_keeper::LeaseKeeper;
use super::permit_guard::PermitGuard;
use super::recorded::Recorded;
use crate::events;
use crate::local_admission::{Admitted, LocalDecision};
use crate::spawn_blocking::spawn_blocking;

/// The permit of a call that the library makes itself. One from memory is lighter than a [`PermitGuard`]: it holds no handle,
/// so that threads which share a breaker write nothing that they share.
pub(super) enum CallPermit<'a> {
    Local(LocalCall<'a>),
    Guard(PermitGuard),
}

/// A call that is admitted from memory. Dropped by a panic it is reported as a failure, and otherwise counts nowhere.
pub(super) struct LocalCall<'a> {
    breaker: &'a Breaker,
    admitted: Admitted,
    begun: Option<Duration>,
    elsewhere: bool,
    settled: bool,
}

impl<'a> CallPermit<'a> {
    /// The permit in a decision, or the deferral.
    #[inline]
    pub fn of(breaker: &'a Breaker, acquired: Acquired) -> Result<Self, Deferral> {
        match acquired {
            Acquired::Local(LocalDecision::Admit(permit)) => {
                let admitted = permit.admitted;
                // Reading a clock is most of what such a call costs.
                let is_timed = admitted.slower_than.is_some() || breaker.handle.timeout.is_some();
                let begun = is_timed.then(|| breaker.handle.inner.clock.monotonic());
                Ok(CallPermit::Local(LocalCall { breaker, admitted, begun, elsewhere: false, settled: false }))
            }
            Acquired::Stored(Decision::Proceed(guard) | Decision::Probe(guard)) => Ok(CallPermit::Guard(guard)),
            Acquired::Local(LocalDecision::Defer(deferral)) | Acquired::Stored(Decision::Defer(deferral)) => {
                Err(deferral)
            }
        }
    }

    /// For async code: dropped by a panic, it is settled on another thread. A guard of an async acquire already is.
    pub fn settle_elsewhere(mut self) -> Self {
        if let CallPermit::Local(call) = &mut self {
            call.elsewhere = true;
        }
        self
    }

    /// Renews the lease while the keeper lives; none without a lease.
    pub fn keep_alive(&self) -> Option<LeaseKeeper> {
        match self {
            CallPermit::Local(_) => None,
            CallPermit::Guard(guard) => guard.keep_alive(),
        }
    }

    /// The monotonic time at which the call begins; none where the time that it takes does not count.
    pub fn begun(&self) -> Option<Duration> {
        match self {
            CallPermit::Local(call) => call.begun,
            CallPermit::Guard(guard) => Some(guard.clock().monotonic()),
        }
    }

    /// Reports the outcome.
    #[inline]
    pub fn report(self, report: Report) -> Result<Recorded, BreakerError> {
        match self {
            CallPermit::Local(mut call) => {
                call.settled = true;
                call.breaker.record(call.admitted, report)
            }
            CallPermit::Guard(guard) => guard.report(report),
        }
    }

    /// Reports the outcome; the store is written on another thread.
    pub async fn report_async(self, report: Report) -> Result<Recorded, BreakerError> {
        match self {
            CallPermit::Local(mut call) => {
                call.settled = true;
                let (breaker, admitted) = (call.breaker, call.admitted);
                if let Some(recorded) = breaker.record_in_memory(admitted, report.outcome, report.took) {
                    return Ok(recorded);
                }
                let breaker = breaker.share();
                spawn_blocking(move || breaker.record_in_store(admitted, report)).await
            }
            CallPermit::Guard(guard) => guard.report_async(report).await,
        }
    }
}

impl Drop for LocalCall<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.settled && std::thread::panicking() {
            self.panicked();
        }
    }
}

impl LocalCall<'_> {
    #[cold]
    fn panicked(&self) {
        let (breaker, admitted) = (self.breaker.share(), self.admitted);
        let mut report = Report::new(Outcome::Failure);
        if let Some(begun) = self.begun {
            report = report.took(breaker.handle.inner.clock.monotonic().saturating_sub(begun));
        }
        let record = move || {
            if let Err(error) = breaker.record_in_store(admitted, report) {
                events::unreported(breaker.handle.inner.namespace(), breaker.dependency(), &error);
            }
        };
        if self.elsewhere { spawn_blocking(record).detach() } else { record() }
    }
}

/// The permit of a call on the fast path: nearly every call has it, and so it is as small as can be.
pub(super) struct FastCall<'a> {
    breaker: &'a Breaker,
    epoch: u64,
    generation: u32,
}

impl<'a> FastCall<'a> {
    #[inline(always)]
    pub fn new(breaker: &'a Breaker, epoch: u64, generation: u32) -> Self {
        FastCall { breaker, epoch, generation }
    }

    /// Records the outcome. A failure to do so is only traced.
    #[inline(always)]
    pub fn settle(self, outcome: Outcome) {
        let FastCall { breaker, epoch, generation } = self;
        std::mem::forget(self);
        if outcome != Outcome::Success || !breaker.count(generation, false) {
            record_slowly(breaker, epoch, generation, outcome);
        }
    }
}

impl Drop for FastCall<'_> {
    /// The call has panicked.
    #[inline(always)]
    fn drop(&mut self) {
        record_slowly(self.breaker, self.epoch, self.generation, Outcome::Failure);
    }
}

#[cold]
#[inline(never)]
fn record_slowly(breaker: &Breaker, epoch: u64, generation: u32, outcome: Outcome) {
    let admitted = Admitted { epoch, generation: Some(generation), slower_than: None };
    if let Err(error) = breaker.record(admitted, outcome.into()) {
        events::unreported(breaker.handle.inner.namespace(), breaker.dependency(), &error);
    }
}
