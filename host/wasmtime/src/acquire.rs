//! Asking for a permit.

use std::time::Duration;

use crate::breaker::{Breaker, Decision, mismatch};
use crate::builder::OnStoreError;
use crate::clock::Clock;
use crate::error::{BreakerError, StoreError};
use crate::events;
use crate::guard::{PermitGuard, Terms};
use crate::last_known::Fallback;
use crate::op::{Answer, Call};
use crate::wire;

/// How often it is asked again when each lease has run out by the time it arrives.
const LATE: u32 = 3;

/// When an acquire was sent, by both clocks: the machine may have been stopped, or its clock set, since.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub now: u64,
    pub monotonic: Duration,
}

impl Sent {
    pub fn at(clock: &dyn Clock) -> Self {
        Sent { now: clock.now(), monotonic: clock.monotonic() }
    }

    /// How long ago: by whichever clock says more.
    pub fn ago(&self, clock: &dyn Clock) -> Duration {
        let wall = Duration::from_millis(clock.now().saturating_sub(self.now));
        clock.monotonic().saturating_sub(self.monotonic).max(wall)
    }
}

impl Breaker {
    /// Asks whether a call may be made.
    ///
    /// A probe whose lease has run out by the time it arrives here is treated as lost, and asked for anew.
    ///
    /// # Errors
    /// [`BreakerError`]; while the store fails, as [`OnStoreError`] says.
    pub fn acquire(&self) -> Result<Decision, BreakerError> {
        let inner = &self.host.inner;
        for _ in 0..LATE {
            let sent = Sent::at(&*inner.clock);
            let decision = match self.run(Call::Acquire { caller: self.caller.clone() }) {
                Ok(Answer::Decision(decision)) => decision,
                Ok(other) => return Err(mismatch(&other)),
                Err(BreakerError::Store(error)) => return self.without_store(error, sent),
                Err(error) => return Err(error),
            };
            if inner.on_store_error == OnStoreError::LastKnown {
                inner.last_known.note(&self.dependency, &decision, sent.monotonic);
            }
            match decision {
                wire::Decision::Proceed(admission) => {
                    return Ok(Decision::Proceed(PermitGuard::new(self, Terms::admitted(&admission, sent))));
                }
                wire::Decision::Defer(deferral) => return Ok(Decision::Defer(deferral)),
                wire::Decision::Probe(probe) => {
                    if sent.ago(&*inner.clock) < Duration::from_millis(probe.expires_in) {
                        return Ok(Decision::Probe(PermitGuard::new(self, Terms::probe(&probe, sent))));
                    }
                }
            }
        }
        Err(BreakerError::Other(format!(
            "a probe of {:?} was granted, and its lease had run out before the answer arrived; give it a longer lease_ms",
            self.dependency
        )))
    }

    /// [`acquire`](Breaker::acquire) for async code: the store is asked on a thread of its own. A permit from here that is
    /// dropped is given back on such a thread as well, so shortly after.
    ///
    /// # Errors
    /// As [`acquire`](Breaker::acquire).
    pub async fn acquire_async(&self) -> Result<Decision, BreakerError> {
        let breaker = self.clone();
        let mut decision = blocking::unblock(move || breaker.acquire()).await?;
        if let Decision::Proceed(guard) | Decision::Probe(guard) = &mut decision {
            guard.settle_elsewhere();
        }
        Ok(decision)
    }

    fn without_store(&self, error: StoreError, sent: Sent) -> Result<Decision, BreakerError> {
        let inner = &self.host.inner;
        let fallback = match inner.on_store_error {
            OnStoreError::FailClosed => Fallback::Unknown,
            OnStoreError::FailOpen => Fallback::Proceed,
            OnStoreError::LastKnown => inner.last_known.recall(&self.dependency, inner.clock.monotonic()),
        };
        match fallback {
            Fallback::Unknown => Err(error.into()),
            Fallback::Defer(deferral) => Ok(Decision::Defer(deferral)),
            Fallback::Proceed => {
                events::unrecorded(&inner.namespace, &self.dependency);
                Ok(Decision::Proceed(PermitGuard::new(self, Terms::unrecorded(error, sent))))
            }
        }
    }
}
