//! Local admission: while the engine's last decision holds, calls are admitted and refused from memory.
//!
//! This layer holds no rule of the state machine. It keeps the last decision for the time that the engine gave it, in a cell
//! that is read without a lock, and counts successes until they are flushed to the store.
//!
//! - [`LocalBreaker`]: one dependency.
//! - [`CachedDecision`]: the last decision; [`DecisionCell`](decision_cell::DecisionCell): where it is read.
//! - [`SuccessCounter`](success_counter::SuccessCounter): the successes, for one epoch at a time. A call that was admitted in
//!   an older one is reported to the engine, which finds it stale.

mod atomic;
mod cached_decision;
mod decision_cell;
mod fast_path;
mod local_breaker;
mod registry;
mod sampler;
mod seqlock;
mod stripe;
mod striped_counter;
mod success_counter;

use std::sync::Arc;
use std::time::Duration;

use halfopen_contract::time::{Clock, Reading};
use halfopen_contract::types::Deferral;

use cached_decision::{AdmissionTerms, CachedDecision, FurtherCalls};
pub(crate) use fast_path::FastPath;
pub(crate) use local_breaker::{Admitted, DueSuccesses, Entry, LocalBreaker, Ticket};
use registry::Registry;
use sampler::Sampler;
pub(crate) use success_counter::Added;

/// The local admission of a host.
pub(crate) struct LocalAdmission {
    registry: Registry,
    sampler: Sampler,
    /// The most by which a coarse reading of the clock may lag.
    pub resolution: Duration,
}

/// A decision from memory.
pub(crate) enum LocalDecision {
    Admit(LocalPermit),
    Defer(Deferral),
}

/// An admission from memory, and the decision that it is of.
pub(crate) struct LocalPermit {
    pub admitted: Admitted,
    pub percent: u32,
    pub request_time: Reading,
    pub fresh_for: u64,
}

impl LocalAdmission {
    /// Local admission that removes dependencies out of use from `capacity` on.
    pub fn new(clock: &dyn Clock, seed: Option<u64>, capacity: usize) -> Self {
        LocalAdmission {
            registry: Registry::new(capacity),
            sampler: Sampler::new(seed),
            resolution: clock.resolution(),
        }
    }

    /// The local breaker of a dependency.
    pub fn get(&self, dependency: &str) -> Arc<LocalBreaker> {
        self.registry.get(dependency)
    }

    /// All local breakers.
    pub fn all(&self) -> Vec<Arc<LocalBreaker>> {
        self.registry.all()
    }

    /// The cached decision on one more call; none where it has to run an acquire.
    #[inline]
    pub fn recall(&self, local: &LocalBreaker, clock: &dyn Clock) -> Option<LocalDecision> {
        let (decision, generation) = local.decision()?;
        if !decision.answers() {
            return None;
        }
        let age = decision.age(clock, self.resolution)?;
        let admit = |terms| Some(LocalDecision::Admit(LocalPermit::new(&decision, terms, generation)));
        match &decision.further {
            FurtherCalls::Admit(terms) => admit(terms),
            FurtherCalls::Sample(terms, _) if self.sampler.hits(terms.percent) => admit(terms),
            FurtherCalls::Sample(_, refusal) => Some(LocalDecision::Defer(decision.deferral(refusal.as_ref(), age))),
            FurtherCalls::Refuse(refusal) => Some(LocalDecision::Defer(decision.deferral(Some(refusal), age))),
            FurtherCalls::Acquire => None,
        }
    }
}

impl LocalPermit {
    fn new(decision: &CachedDecision, terms: &AdmissionTerms, generation: u32) -> Self {
        let AdmissionTerms { epoch, percent, slower_than } = *terms;
        LocalPermit {
            admitted: Admitted { epoch, generation: Some(generation), slower_than },
            percent,
            request_time: decision.request_time,
            fresh_for: decision.fresh_for,
        }
    }
}

#[cfg(test)]
mod lock_free_tests;
#[cfg(test)]
mod tests;
