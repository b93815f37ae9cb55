//! The admission of a call that the library makes itself. One from memory is lighter than a
//! [`PermitGuard`]: it holds no handle, so that threads which share a breaker write nothing that they share.

use std::time::Duration;

use crate::acquire::Answered;
use crate::breaker::{Breaker, Decision};
use crate::elsewhere::Elsewhere;
use crate::error::BreakerError;
use crate::events;
use crate::guard::PermitGuard;
use crate::lease_keeper::LeaseKeeper;
use crate::local::{Admitted, Remembered};
use crate::recorded::Recorded;
use crate::wire::{Deferral, Outcome};

pub(crate) enum Admission<'a> {
    Here(Here<'a>),
    There(PermitGuard),
}

/// An admission from memory. Dropped by a panic it is reported as a failure, and otherwise counts nowhere.
pub(crate) struct Here<'a> {
    breaker: &'a Breaker,
    admitted: Admitted,
    begun: Option<Duration>,
    elsewhere: bool,
    settled: bool,
}

impl<'a> Admission<'a> {
    /// The admission in an answer, or the deferral.
    #[inline]
    pub fn of(breaker: &'a Breaker, answered: Answered) -> Result<Self, Deferral> {
        match answered {
            Answered::Here(Remembered::Admit(from)) => {
                let admitted = from.admitted;
                // Reading a clock is most of what such a call costs.
                let wanted = admitted.slower_than.is_some() || breaker.handle.timeout.is_some();
                let begun = wanted.then(|| breaker.handle.host.inner.clock.monotonic());
                Ok(Admission::Here(Here { breaker, admitted, begun, elsewhere: false, settled: false }))
            }
            Answered::There(Decision::Proceed(guard) | Decision::Probe(guard)) => Ok(Admission::There(guard)),
            Answered::Here(Remembered::Defer(deferral)) | Answered::There(Decision::Defer(deferral)) => Err(deferral),
        }
    }

    /// For async code: dropped by a panic, it is settled on another thread. A guard from there already is.
    pub fn settle_elsewhere(mut self) -> Self {
        if let Admission::Here(here) = &mut self {
            here.elsewhere = true;
        }
        self
    }

    pub fn keep_alive(&self) -> Option<LeaseKeeper> {
        match self {
            Admission::Here(_) => None,
            Admission::There(guard) => guard.keep_alive(),
        }
    }

    /// When the call begins, on the monotonic clock; none where nobody will want to know how long it took.
    pub fn begun(&self) -> Option<Duration> {
        match self {
            Admission::Here(here) => here.begun,
            Admission::There(guard) => Some(guard.clock().monotonic()),
        }
    }

    #[inline]
    pub fn report(self, outcome: Outcome, took: Option<Duration>) -> Result<Recorded, BreakerError> {
        match self {
            Admission::Here(here) => here.report(outcome, took),
            Admission::There(guard) => guard.report(outcome, took),
        }
    }

    pub async fn report_async(self, outcome: Outcome, took: Option<Duration>) -> Result<Recorded, BreakerError> {
        match self {
            Admission::Here(mut here) => {
                here.settled = true;
                let (breaker, admitted) = (here.breaker, here.admitted);
                if breaker.record_here(admitted, outcome, took) {
                    return Ok(if outcome == Outcome::Success { Recorded::Later } else { Recorded::Nothing });
                }
                let breaker = breaker.share();
                Elsewhere::run(move || breaker.record_there(admitted, outcome, took)).await
            }
            Admission::There(guard) => guard.report_async(outcome, took).await,
        }
    }
}

impl Drop for Here<'_> {
    #[inline]
    fn drop(&mut self) {
        if !self.settled && std::thread::panicking() {
            self.panicked();
        }
    }
}

impl Here<'_> {
    #[inline]
    pub fn report(mut self, outcome: Outcome, took: Option<Duration>) -> Result<Recorded, BreakerError> {
        self.settled = true;
        self.breaker.record(self.admitted, outcome, took)
    }

    #[cold]
    fn panicked(&self) {
        let (breaker, admitted) = (self.breaker.share(), self.admitted);
        let took = self.begun.map(|begun| breaker.handle.host.inner.clock.monotonic().saturating_sub(begun));
        let report = move || {
            if let Err(error) = breaker.record_there(admitted, Outcome::Failure, took) {
                events::unreported(breaker.handle.host.namespace(), breaker.dependency(), &error);
            }
        };
        if self.elsewhere { Elsewhere::run(report).detach() } else { report() }
    }
}

/// The admission of a plain call: what nearly every call has, and so as small as can be.
pub(crate) struct PlainCall<'a> {
    breaker: &'a Breaker,
    epoch: u64,
    generation: u32,
}

impl<'a> PlainCall<'a> {
    #[inline(always)]
    pub fn new(breaker: &'a Breaker, epoch: u64, generation: u32) -> Self {
        PlainCall { breaker, epoch, generation }
    }

    /// Records the outcome. Failing to is only traced.
    #[inline(always)]
    pub fn settle(self, outcome: Outcome) {
        let PlainCall { breaker, epoch, generation } = self;
        std::mem::forget(self);
        if outcome != Outcome::Success || !breaker.count_here(generation) {
            settle_plainly(breaker, epoch, generation, outcome);
        }
    }
}

impl Drop for PlainCall<'_> {
    /// The call has panicked.
    #[inline(always)]
    fn drop(&mut self) {
        settle_plainly(self.breaker, self.epoch, self.generation, Outcome::Failure);
    }
}

#[cold]
#[inline(never)]
fn settle_plainly(breaker: &Breaker, epoch: u64, generation: u32, outcome: Outcome) {
    let admitted = Admitted { epoch, generation: Some(generation), slower_than: None };
    breaker.trace(breaker.record(admitted, outcome, None));
}
