//! Asking for a permit.

use std::sync::Arc;

use event_listener::{EventListener, Listener};

use crate::breaker::{Breaker, Decision, mismatch};
use crate::builder::OnStoreError;
use crate::clock::SystemClock;
use crate::draft::Held;
use crate::error::{BreakerError, StoreError};
use crate::events;
use crate::guard::{PermitGuard, Terms};
use crate::last_known::Fallback;
use crate::local::{Entry, Local, Plain, Remembered, Ticket};
use crate::op::{Answer, Call};
use crate::sent::Sent;
use crate::store::Snapshot;
use crate::wire::{self, Deferral};

/// How often it is asked again when each lease has run out by the time it arrives.
pub(crate) const LATE: u32 = 3;

/// The bytes of a caller's name, at most.
pub(crate) const LONGEST_CALLER: usize = 64;

/// What came of asking, and where the answer is from.
pub(crate) enum Answered {
    /// From memory.
    Here(Remembered),
    /// From the component.
    There(Decision),
}

/// What a call does that memory did not answer.
enum Turn {
    Ask(Option<Ticket>),
    Wait(EventListener),
    Recall(Remembered),
}

impl Breaker {
    /// Asks whether a call may be made: from memory while the last answer holds, and the component otherwise. Of several
    /// that would ask at the same time one does, and the others go by its answer.
    ///
    /// A probe whose lease has run out by the time it arrives here is treated as lost, and asked for anew.
    ///
    /// # Errors
    /// [`BreakerError`]; while the store fails, as [`OnStoreError`] says.
    pub fn acquire(&self) -> Result<Decision, BreakerError> {
        loop {
            if let Some(remembered) = self.recall() {
                return Ok(self.hand_out(remembered));
            }
            match self.turn_to_ask() {
                Turn::Ask(ticket) => return self.ask(ticket.as_ref()),
                Turn::Wait(asked) => asked.wait(),
                Turn::Recall(remembered) => return Ok(self.hand_out(remembered)),
            }
        }
    }

    /// [`acquire`](Breaker::acquire), but of the component whatever is known in memory.
    ///
    /// # Errors
    /// As [`acquire`](Breaker::acquire).
    pub fn acquire_fresh(&self) -> Result<Decision, BreakerError> {
        self.settle_counts();
        let ticket = self.handle.local.as_ref().map(|local| local.ticket());
        self.ask(ticket.as_ref())
    }

    /// [`acquire`](Breaker::acquire) for async code: where the store has to be asked, that is done on a thread of its own.
    /// A permit from there that is dropped is given back on such a thread as well, so shortly after.
    ///
    /// # Errors
    /// As [`acquire`](Breaker::acquire).
    pub async fn acquire_async(&self) -> Result<Decision, BreakerError> {
        Ok(match self.admit_async().await? {
            Answered::Here(remembered) => self.hand_out(remembered).settle_elsewhere(),
            Answered::There(decision) => decision,
        })
    }

    /// Asks, from memory where that answers.
    pub(crate) fn admit(&self) -> Result<Answered, BreakerError> {
        match self.recall() {
            Some(remembered) => Ok(Answered::Here(remembered)),
            None => self.acquire().map(Answered::There),
        }
    }

    pub(crate) async fn admit_async(&self) -> Result<Answered, BreakerError> {
        loop {
            if let Some(remembered) = self.recall() {
                return Ok(Answered::Here(remembered));
            }
            match self.turn_to_ask() {
                Turn::Ask(ticket) => {
                    let breaker = self.share();
                    // Settled elsewhere from the start: where nobody waits for it any more, it is dropped with the task.
                    let ask = move || breaker.ask(ticket.as_ref()).map(Decision::settle_elsewhere);
                    return blocking::unblock(ask).await.map(Answered::There);
                }
                Turn::Wait(asked) => asked.await,
                Turn::Recall(remembered) => return Ok(Answered::Here(remembered)),
            }
        }
    }

    /// What this handle may be answered from. A caller's name that the contract does not allow is for the component to
    /// refuse, whatever is known.
    #[inline(always)]
    fn memory(&self) -> Option<&Arc<Local>> {
        self.handle.local.as_ref().filter(|_| self.handle.caller.len() <= LONGEST_CALLER)
    }

    #[inline]
    fn recall(&self) -> Option<Remembered> {
        let inner = &*self.handle.host.inner;
        inner.local.as_ref()?.recall(self.memory()?, &*inner.clock)
    }

    /// The epoch and the generation that one more call is admitted in, if that is known without a closer look.
    #[inline(always)]
    pub(crate) fn still_admits(&self) -> Option<(u64, u32)> {
        let local = self.handle.local.as_ref().filter(|_| self.handle.plain)?;
        let inner = &*self.handle.host.inner;
        if inner.machine_clock { local.still_admits(&SystemClock) } else { local.still_admits(&*inner.clock) }
    }

    /// What memory says, where it says so plainly.
    pub(crate) fn plainly(&self) -> Plain {
        let local = self.handle.local.as_ref().filter(|_| self.handle.plain);
        local.map_or(Plain::Else, |local| local.plainly(&*self.handle.host.inner.clock))
    }

    /// The refusal that memory has, so many ms after the look; none where another look has come meanwhile.
    pub(crate) fn refusal(&self, age: u64) -> Option<Deferral> {
        self.memory()?.refusal(age)
    }

    fn turn_to_ask(&self) -> Turn {
        let Some(local) = self.memory() else { return Turn::Ask(None) };
        match local.enter() {
            // Somebody may have had the answer in the meantime.
            Entry::Ask(ticket) => self.recall().map_or(Turn::Ask(Some(ticket)), Turn::Recall),
            Entry::Wait(asked) => Turn::Wait(asked),
        }
    }

    fn hand_out(&self, remembered: Remembered) -> Decision {
        match remembered {
            Remembered::Admit(admission) => Decision::Proceed(PermitGuard::new(self, Terms::from_memory(&admission))),
            Remembered::Defer(deferral) => Decision::Defer(deferral),
        }
    }

    /// Asks the component.
    fn ask(&self, ticket: Option<&Ticket>) -> Result<Decision, BreakerError> {
        let inner = &self.handle.host.inner;
        inner.deliver_before(self.dependency());
        for _ in 0..LATE {
            let sent = Sent::at(&*inner.clock);
            let turn = match inner.outage.turn() {
                Ok(turn) => turn,
                Err(error) => {
                    ticket.iter().for_each(|ticket| ticket.failed());
                    return self.without_store(error, sent);
                }
            };
            let (result, view) = inner.perform(self.op(Call::Acquire { caller: self.handle.caller.clone() }), None);
            if result.is_err() {
                ticket.iter().for_each(|ticket| ticket.failed());
            }
            let (decision, version) = match result {
                Ok(Held { answer: Answer::Decision(decision), version, .. }) => (decision, version),
                Ok(other) => return Err(mismatch(&other.answer)),
                Err(BreakerError::Store(error)) => {
                    inner.outage.failed(&error);
                    drop(turn);
                    return self.without_store(error, sent);
                }
                Err(error) => return Err(error),
            };
            drop(turn);
            let generation = ticket.and_then(|ticket| self.learn(ticket, &decision, version, sent, view));
            if inner.on_store_error == OnStoreError::LastKnown {
                inner.last_known.note(self.dependency(), &decision, sent);
            }
            match decision {
                wire::Decision::Proceed(admission) => {
                    let terms = Terms::admitted(&admission, generation, sent);
                    return Ok(Decision::Proceed(PermitGuard::new(self, terms)));
                }
                wire::Decision::Defer(deferral) => return Ok(Decision::Defer(deferral)),
                wire::Decision::Probe(probe) => {
                    if !sent.too_long_ago(probe.expires_in, &*inner.clock) {
                        return Ok(Decision::Probe(PermitGuard::new(self, Terms::probe(&probe, sent))));
                    }
                }
            }
        }
        Err(too_late(self.dependency()))
    }

    /// Keeps an answer for the calls to come, and hands over what was counted under the last one.
    fn learn(
        &self,
        ticket: &Ticket,
        decision: &wire::Decision,
        version: u64,
        sent: Sent,
        view: Option<Snapshot>,
    ) -> Option<u32> {
        let (generation, due) = ticket.answered(decision, version, sent, &*self.handle.host.inner.clock);
        self.settle(due);
        self.handle.host.inner.hand_over_soon(ticket.local(), view);
        generation
    }

    fn without_store(&self, error: StoreError, sent: Sent) -> Result<Decision, BreakerError> {
        let inner = &self.handle.host.inner;
        let fallback = match inner.on_store_error {
            OnStoreError::FailClosed => Fallback::Unknown,
            OnStoreError::FailOpen => Fallback::Proceed,
            OnStoreError::LastKnown => inner.last_known.recall(self.dependency(), &*inner.clock),
        };
        match fallback {
            Fallback::Unknown | Fallback::Passed => Err(error.into()),
            Fallback::Defer(deferral) => Ok(Decision::Defer(deferral)),
            Fallback::Proceed => {
                events::unrecorded(&inner.namespace, self.dependency());
                Ok(Decision::Proceed(PermitGuard::new(self, Terms::unrecorded(error, sent))))
            }
        }
    }
}

/// Why a probe was granted, again and again, and none was any good.
pub(crate) fn too_late(dependency: &str) -> BreakerError {
    BreakerError::Other(format!(
        "a probe of {dependency:?} was granted, and its lease had run out before the answer arrived; give it a longer \
         lease_ms"
    ))
}
