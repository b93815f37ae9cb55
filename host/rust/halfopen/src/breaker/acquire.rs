use event_listener::{EventListener, Listener};
use halfopen_contract::BreakerError;
use halfopen_contract::cas::Settled;
use halfopen_contract::engine::{Answer, Operation};
use halfopen_contract::store::{Snapshot, StoreError};
use halfopen_contract::time::Reading;
use halfopen_contract::types::{self, Deferral};

use super::handle::{Breaker, mismatch};
use super::permit_guard::PermitGuard;
use super::permit_terms::PermitTerms;
use crate::events;
use crate::local_admission::{Entry, LocalDecision, Ticket};
use crate::outage::{Fallback, OnStoreError};

/// The most attempts at a probe whose lease has not ended by the time it arrives.
const ATTEMPTS: u32 = 3;

/// The answer to `acquire`. Deferring is an answer, not an error.
#[derive(Debug)]
#[must_use = "a permit that is dropped is given back"]
pub enum Decision {
    /// Make the call, and report its outcome.
    Proceed(PermitGuard),
    /// Make the call as the probe, under a lease, and report its outcome before the lease ends.
    Probe(PermitGuard),
    /// Make no call now.
    Defer(Deferral),
}

impl Decision {
    /// Settles a permit that is dropped on another thread.
    fn settle_in_background(mut self) -> Self {
        if let Decision::Proceed(guard) | Decision::Probe(guard) = &mut self {
            guard.settle_in_background();
        }
        self
    }
}

/// The next step of a caller that memory does not answer.
enum Next {
    Acquire(Option<Ticket>),
    Wait(EventListener),
    Answer(LocalDecision),
}

impl Breaker {
    /// Decides whether a call may be made: from memory while the last decision holds, and by the engine otherwise. Of several
    /// callers that would run the engine at the same time one does, and the others act on its answer.
    ///
    /// A probe whose lease has ended by the time it arrives here is treated as lost, and acquired again.
    ///
    /// # Errors
    /// [`BreakerError`]; while the store fails, as [`OnStoreError`] says.
    pub fn acquire(&self) -> Result<Decision, BreakerError> {
        loop {
            if let Some(decision) = self.recall() {
                return Ok(self.hand_out(decision));
            }
            match self.enter() {
                Next::Acquire(ticket) => return self.acquire_stored(ticket.as_ref()),
                Next::Wait(answered) => answered.wait(),
                Next::Answer(decision) => return Ok(self.hand_out(decision)),
            }
        }
    }

    /// [`acquire`](Breaker::acquire) for async code: the store is read on a thread for blocking work. A permit that is dropped
    /// is given back on such a thread as well, so shortly after.
    pub async fn acquire_async(&self) -> Result<Decision, BreakerError> {
        loop {
            if let Some(decision) = self.recall() {
                return Ok(self.hand_out(decision).settle_in_background());
            }
            match self.enter() {
                Next::Acquire(ticket) => {
                    let breaker = self.share();
                    // Settled in the background from the start: a task without a waiting future drops the decision.
                    let acquire = move || breaker.acquire_stored(ticket.as_ref()).map(Decision::settle_in_background);
                    return blocking::unblock(acquire).await;
                }
                Next::Wait(answered) => answered.await,
                Next::Answer(decision) => return Ok(self.hand_out(decision).settle_in_background()),
            }
        }
    }

    #[inline]
    pub(super) fn recall(&self) -> Option<LocalDecision> {
        let inner = &*self.handle.inner;
        inner.local.as_ref()?.recall(self.handle.local.as_ref()?, &*inner.clock)
    }

    fn enter(&self) -> Next {
        let Some(local) = &self.handle.local else { return Next::Acquire(None) };
        match local.enter() {
            // Another caller may have had the answer in the meantime.
            Entry::Acquire(ticket) => self.recall().map_or(Next::Acquire(Some(ticket)), Next::Answer),
            Entry::Wait(answered) => Next::Wait(answered),
        }
    }

    pub(super) fn hand_out(&self, decision: LocalDecision) -> Decision {
        match decision {
            LocalDecision::Admit(admission, generation, request_time) => {
                let terms = PermitTerms::admitted(&admission, Some(generation), request_time);
                Decision::Proceed(PermitGuard::new(self, terms))
            }
            LocalDecision::Defer(deferral) => Decision::Defer(deferral),
        }
    }

    /// Runs the acquire.
    fn acquire_stored(&self, ticket: Option<&Ticket>) -> Result<Decision, BreakerError> {
        let inner = &*self.handle.inner;
        inner.outbox.deliver_before(self.dependency());
        let request = self.request(Operation::Acquire { caller: self.handle.caller.clone() });
        for _ in 0..ATTEMPTS {
            let request_time = Reading::now(&*inner.clock);
            let store_backoff = &inner.runner.store_backoff;
            let attempt = match store_backoff.attempt() {
                Ok(attempt) => attempt,
                Err(error) => {
                    ticket.iter().for_each(|ticket| ticket.failed());
                    return self.acquire_without_store(error, request_time);
                }
            };
            let (result, snapshot) = inner.run(&request);
            if result.is_err() {
                ticket.iter().for_each(|ticket| ticket.failed());
            }
            let (decision, version) = match result {
                Ok(Settled { answer: Answer::Decision(decision), version, .. }) => (decision, version),
                Ok(other) => return Err(mismatch(&other.answer)),
                Err(BreakerError::Store(error)) => {
                    store_backoff.failed(&error);
                    drop(attempt);
                    return self.acquire_without_store(error, request_time);
                }
                Err(error) => return Err(error),
            };
            drop(attempt);
            let generation = ticket.and_then(|ticket| self.cache(ticket, &decision, version, request_time, snapshot));
            if inner.settings.on_store_error == OnStoreError::LastKnown {
                inner.last_known.keep(self.dependency(), &decision, request_time);
            }
            match decision {
                types::Decision::Proceed(admission) => {
                    let terms = PermitTerms::admitted(&admission, generation, request_time);
                    return Ok(Decision::Proceed(PermitGuard::new(self, terms)));
                }
                types::Decision::Defer(deferral) => return Ok(Decision::Defer(deferral)),
                types::Decision::Probe(probe) => {
                    if !request_time.has_expired(probe.expires_in, &*inner.clock) {
                        return Ok(Decision::Probe(PermitGuard::new(self, PermitTerms::probe(&probe, request_time))));
                    }
                }
            }
        }
        Err(BreakerError::Other(format!(
            "a probe of {:?} was granted, and its lease had ended before the answer arrived; give it a longer lease_ms",
            self.dependency()
        )))
    }

    /// Caches a decision for the calls to come, and flushes the successes that were counted under the last one. Returns the
    /// generation that its admissions are counted in.
    fn cache(
        &self,
        ticket: &Ticket,
        decision: &types::Decision,
        version: u64,
        request_time: Reading,
        snapshot: Option<Snapshot>,
    ) -> Option<u32> {
        let inner = &*self.handle.inner;
        let (generation, due) = ticket.answered(decision, version, request_time, &*inner.clock);
        self.report_successes(due);
        inner.outbox.flush_soon(ticket.local(), snapshot);
        generation
    }

    fn acquire_without_store(&self, error: StoreError, request_time: Reading) -> Result<Decision, BreakerError> {
        let inner = &*self.handle.inner;
        let fallback = match inner.settings.on_store_error {
            OnStoreError::FailClosed => Fallback::Unknown,
            OnStoreError::FailOpen => Fallback::Proceed,
            OnStoreError::LastKnown => inner.last_known.recall(self.dependency(), &*inner.clock),
        };
        match fallback {
            Fallback::Unknown => Err(error.into()),
            Fallback::Defer(deferral) => Ok(Decision::Defer(deferral)),
            Fallback::Proceed => {
                events::unrecorded(inner.namespace(), self.dependency());
                Ok(Decision::Proceed(PermitGuard::new(self, PermitTerms::unrecorded(error, request_time))))
            }
        }
    }
}
