use halfopen_contract::types::Outcome;

use super::handle::Breaker;
use crate::events;
use crate::local_admission::Admitted;

/// The permit of a call on the fast path. It holds no handle, so that threads which share a breaker write nothing that they
/// share; nearly every call has it, and so it is as small as can be.
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
