//! Local admission: while the engine's last decision holds, calls are admitted and refused from memory.
//!
//! This layer holds no rule of the state machine. It keeps the last decision for the time that the engine gave it, in a cell
//! that is read without a lock, and counts successes until they are flushed to the store.
//!
//! - [`LocalBreaker`]: one dependency.
//! - [`CachedDecision`](cached_decision::CachedDecision): the last decision; [`DecisionCell`](decision_cell::DecisionCell):
//!   where it is read.
//! - [`SuccessCounter`](success_counter::SuccessCounter): the successes, for one epoch at a time. A call that was admitted in
//!   an older one is reported to the engine, which finds it stale.

mod cached_decision;
mod decision_cell;
mod local_breaker;
mod seqlock;
mod success_counter;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use halfopen_contract::entropy::Entropy;
use halfopen_contract::time::{Clock, Reading};
use halfopen_contract::types::{Admission, Deferral};

pub(crate) use local_breaker::{Admitted, DueSuccesses, Entry, LocalBreaker, Ticket};
pub(crate) use success_counter::Added;

/// The atomics of the lock-free parts, so that a model checker's can stand in for them.
mod atomic {
    pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};
}

/// The local admission of a host.
pub(crate) struct LocalAdmission {
    registry: Mutex<Registry>,
    /// The number of dependencies from which on those out of use are removed.
    capacity: usize,
    /// What the share of the calls that a ramp admits is drawn with.
    entropy: Entropy,
}

/// The dependencies of a host, by name.
#[derive(Default)]
struct Registry {
    by_name: HashMap<Arc<str>, Arc<LocalBreaker>>,
    /// The number of entries at which those out of use are removed next.
    remove_at: usize,
}

/// A decision from memory.
pub(crate) enum LocalDecision {
    /// The admission, the generation that its success is counted in, and the time of the request that it answers.
    Admit(Admission, u32, Reading),
    Defer(Deferral),
}

impl LocalAdmission {
    /// Local admission that removes dependencies out of use from `capacity` on: a stream of ever new names must not fill the
    /// memory.
    pub fn new(seed: Option<u64>, capacity: usize) -> Self {
        LocalAdmission { registry: Mutex::default(), capacity, entropy: Entropy::new(seed) }
    }

    /// The local breaker of a dependency: the same for all callers.
    pub fn get(&self, dependency: &str) -> Arc<LocalBreaker> {
        let mut registry = self.registry();
        if let Some(local) = registry.by_name.get(dependency) {
            return local.clone();
        }
        if registry.by_name.len() >= registry.remove_at.max(self.capacity) {
            // No thread can get one meanwhile but through here.
            registry.by_name.retain(|_, local| Arc::strong_count(local) > 1 || local.has_successes());
            registry.remove_at = registry.by_name.len() * 2;
        }
        let name: Arc<str> = dependency.into();
        let local = Arc::new(LocalBreaker::new(name.clone()));
        registry.by_name.insert(name, local.clone());
        local
    }

    /// All local breakers.
    pub fn all(&self) -> Vec<Arc<LocalBreaker>> {
        self.registry().by_name.values().cloned().collect()
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cached decision on one more call; none where it has to run an acquire.
    #[inline]
    pub fn recall(&self, local: &LocalBreaker, clock: &dyn Clock) -> Option<LocalDecision> {
        let (decision, generation) = local.decision().filter(|(decision, _)| decision.answers())?;
        let age = decision.age(clock)?;
        match decision.admission {
            Some(admission) if self.is_in_share(admission.percent) => {
                Some(LocalDecision::Admit(admission, generation, decision.request_time))
            }
            _ => Some(LocalDecision::Defer(decision.deferral(age))),
        }
    }

    fn is_in_share(&self, percent: u32) -> bool {
        percent >= 100 || self.entropy.next() % 100 < u64::from(percent)
    }
}

#[cfg(test)]
mod lock_free_tests;
#[cfg(test)]
mod tests;
