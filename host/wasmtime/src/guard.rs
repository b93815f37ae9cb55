//! A permit in the hands of a caller.

use std::time::Duration;

use crate::breaker::{Breaker, Handle, millis};
use crate::clock::Clock;
use crate::elsewhere::Elsewhere;
use crate::error::{BreakerError, StoreError};
use crate::events;
use crate::lease_keeper::LeaseKeeper;
use crate::local::{Admitted, FromMemory};
use crate::recorded::Recorded;
use crate::sent::Sent;
use crate::wire::{Admission, Outcome, Permit, Probe, Receipt};

/// A permit, to be settled with the outcome of the call.
///
/// Dropped without a report it is given back, as if ignored (a permit without a lease then writes nothing); dropped by a
/// panic it is reported as a failure.
#[derive(Debug)]
#[must_use = "a permit that is dropped is given back"]
pub struct PermitGuard {
    breaker: Breaker,
    terms: Terms,
    /// When it was handed out, on the monotonic clock; none where nobody will want to know how long the call took.
    begun: Option<Duration>,
    on_drop: OnDrop,
}

/// What a permit was given for.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    permit: Permit,
    sent: Sent,
    expires_in: Option<Duration>,
    fresh_for: Duration,
    percent: u32,
    slower_than: Option<Duration>,
    /// Where the success is counted; none where it is reported at once.
    generation: Option<u32>,
    unrecorded: Option<Box<StoreError>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDrop {
    Settle,
    /// On another thread, so that the one that drops is not held up.
    SettleElsewhere,
    Nothing,
}

impl Terms {
    pub fn from_memory(admission: &FromMemory) -> Self {
        let FromMemory { admitted, percent, sent, fresh_for } = *admission;
        Terms {
            permit: Permit { epoch: admitted.epoch, lease: None },
            sent,
            expires_in: None,
            fresh_for: Duration::from_millis(fresh_for),
            percent,
            slower_than: admitted.slower_than,
            generation: admitted.generation,
            unrecorded: None,
        }
    }

    pub fn admitted(admission: &Admission, generation: Option<u32>, sent: Sent) -> Self {
        Terms {
            permit: admission.permit,
            sent,
            expires_in: None,
            fresh_for: Duration::from_millis(admission.fresh_for),
            percent: admission.percent,
            slower_than: admission.slower_than.map(Duration::from_millis),
            generation,
            unrecorded: None,
        }
    }

    pub fn probe(probe: &Probe, sent: Sent) -> Self {
        Terms {
            permit: probe.permit,
            sent,
            expires_in: Some(Duration::from_millis(probe.expires_in)),
            fresh_for: Duration::ZERO,
            percent: 100,
            slower_than: probe.slower_than.map(Duration::from_millis),
            generation: None,
            unrecorded: None,
        }
    }

    pub fn unrecorded(error: StoreError, sent: Sent) -> Self {
        Terms {
            // No breaker lives to see this epoch, so that this permit is stale wherever it may turn up.
            permit: Permit { epoch: u64::MAX, lease: None },
            sent,
            expires_in: None,
            fresh_for: Duration::ZERO,
            percent: 100,
            slower_than: None,
            generation: None,
            unrecorded: Some(Box::new(error)),
        }
    }
}

impl PermitGuard {
    pub(crate) fn new(breaker: &Breaker, terms: Terms) -> Self {
        // Where slow calls are not told apart it makes no difference, and reading a clock is most of what a call costs.
        let begun = (terms.generation.is_none() || terms.slower_than.is_some())
            .then(|| breaker.handle.host.inner.clock.monotonic());
        PermitGuard { breaker: breaker.share(), terms, begun, on_drop: OnDrop::Settle }
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.breaker.handle.host.inner.clock
    }

    pub(crate) fn settle_elsewhere(&mut self) {
        self.on_drop = OnDrop::SettleElsewhere;
    }

    /// The permit, as plain data.
    pub fn permit(&self) -> Permit {
        self.terms.permit
    }

    /// The token of the lease, for a probe: tokens only ever rise for a dependency, so it serves as a fencing token.
    pub fn token(&self) -> Option<u64> {
        self.terms.permit.lease
    }

    /// What is left of the lease as it was granted; none without a lease. Renewing lengthens the lease and not this.
    pub fn expires_in(&self) -> Option<Duration> {
        let ago = self.terms.sent.ago(&*self.breaker.handle.host.inner.clock);
        self.terms.expires_in.map(|length| length.saturating_sub(ago))
    }

    /// For how long from now this process may admit further calls under this permit without asking.
    pub fn fresh_for(&self) -> Duration {
        self.terms.fresh_for.saturating_sub(self.terms.sent.ago(&*self.breaker.handle.host.inner.clock))
    }

    /// Of those further calls, so many percent: below 100 during a ramp.
    pub fn percent(&self) -> u32 {
        self.terms.percent
    }

    /// A call that takes so long or longer is slow; none where slow calls are not told apart.
    pub fn slower_than(&self) -> Option<Duration> {
        self.terms.slower_than
    }

    /// Why nothing of this call will be recorded: the store failed, and the host was told to admit calls all the same.
    /// None for a permit that was given.
    pub fn unrecorded(&self) -> Option<&StoreError> {
        self.terms.unrecorded.as_deref()
    }

    /// Renews the lease in the background, for as long as the keeper lives; none without a lease.
    pub fn keep_alive(&self) -> Option<LeaseKeeper> {
        let length = self.terms.expires_in?;
        Some(LeaseKeeper::start(&self.breaker, self.terms.permit, length))
    }

    /// Reports a success that took from when the permit was handed out until now.
    ///
    /// # Errors
    /// As [`report`](PermitGuard::report).
    pub fn success(self) -> Result<Recorded, BreakerError> {
        self.report_now(Outcome::Success)
    }

    /// Reports a failure that took from when the permit was handed out until now.
    ///
    /// # Errors
    /// As [`report`](PermitGuard::report).
    pub fn failure(self) -> Result<Recorded, BreakerError> {
        self.report_now(Outcome::Failure)
    }

    /// Reports a call that was given up after a time limit.
    ///
    /// # Errors
    /// As [`report`](PermitGuard::report).
    pub fn timed_out(self) -> Result<Recorded, BreakerError> {
        self.report_now(Outcome::Timeout)
    }

    /// Gives the permit back: the call says nothing about the dependency.
    ///
    /// # Errors
    /// As [`report`](PermitGuard::report).
    pub fn ignore(self) -> Result<Recorded, BreakerError> {
        self.report(Outcome::Ignored, None)
    }

    /// Reports an outcome, and how long the call took where that is known.
    ///
    /// Where calls are admitted from memory, a success is counted in memory: [`Recorded::Later`]. So is an outcome while the
    /// store cannot be reached: it is reported in the background as long as it can count.
    ///
    /// # Errors
    /// [`BreakerError`], but not that the store is unavailable; for a permit that is [`unrecorded`](PermitGuard::unrecorded), the store's error.
    #[inline]
    pub fn report(mut self, outcome: Outcome, took: Option<Duration>) -> Result<Recorded, BreakerError> {
        self.on_drop = OnDrop::Nothing;
        self.settle(outcome, took)
    }

    /// [`report`](PermitGuard::report) for async code: the store is written on a thread of its own. Once this has been
    /// polled the report is made, even if the future is dropped.
    ///
    /// # Errors
    /// As [`report`](PermitGuard::report).
    pub async fn report_async(mut self, outcome: Outcome, took: Option<Duration>) -> Result<Recorded, BreakerError> {
        match self.admitted() {
            Some(admitted) if self.breaker.record_here(admitted, outcome, took) => {
                self.on_drop = OnDrop::Nothing;
                Ok(if outcome == Outcome::Success { Recorded::Later } else { Recorded::Nothing })
            }
            _ => Elsewhere::run(move || self.report(outcome, took)).await,
        }
    }

    /// Renews the lease once. See [`Breaker::renew`].
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn renew(&self) -> Result<Receipt, BreakerError> {
        self.breaker.renew(self.terms.permit)
    }

    /// The permit as plain data, for whoever reports in this one's place: nothing happens when it is dropped.
    pub fn into_permit(mut self) -> Permit {
        self.on_drop = OnDrop::Nothing;
        self.terms.permit
    }

    fn report_now(self, outcome: Outcome) -> Result<Recorded, BreakerError> {
        let took = self.took();
        self.report(outcome, took)
    }

    fn took(&self) -> Option<Duration> {
        Some(self.breaker.handle.host.inner.clock.monotonic().saturating_sub(self.begun?))
    }

    /// What a call without a lease was admitted under.
    fn admitted(&self) -> Option<Admitted> {
        let Terms { permit, generation, slower_than, .. } = &self.terms;
        let recorded = permit.lease.is_none() && self.terms.unrecorded.is_none();
        recorded.then_some(Admitted { epoch: permit.epoch, generation: *generation, slower_than: *slower_than })
    }

    #[inline]
    fn settle(&self, outcome: Outcome, took: Option<Duration>) -> Result<Recorded, BreakerError> {
        match (self.admitted(), self.unrecorded()) {
            (Some(admitted), _) => self.breaker.record(admitted, outcome, took),
            (None, Some(error)) => Err(error.clone().into()),
            (None, None) => self.settle_lease(outcome, took),
        }
    }
}

impl PermitGuard {
    /// Reports the outcome of a probe. Where the store cannot be reached it is kept until it can, or the lease has ended.
    fn settle_lease(&self, outcome: Outcome, took: Option<Duration>) -> Result<Recorded, BreakerError> {
        let Handle { host, dependency, .. } = &*self.breaker.handle;
        let error = match self.breaker.report(self.terms.permit, outcome, took) {
            Ok(receipt) => return Ok(Recorded::Now(receipt)),
            Err(error) => error,
        };
        // It may have been renewed, and so be whole by now.
        let Some(ends_in) = self.terms.expires_in.filter(|_| error.is_outage()) else { return Err(error) };
        events::undelivered(host.namespace(), dependency, &error);
        host.inner.keep_leased(dependency, self.terms.permit, (outcome, took.map(millis)), ends_in);
        Ok(Recorded::Later)
    }
}

impl Drop for PermitGuard {
    #[inline]
    fn drop(&mut self) {
        if self.on_drop != OnDrop::Nothing {
            self.dropped();
        }
    }
}

impl PermitGuard {
    #[cold]
    fn dropped(&mut self) {
        let outcome = if std::thread::panicking() { Outcome::Failure } else { Outcome::Ignored };
        // Without a lease, an ignored call counts nowhere and writes nothing.
        let says_nothing = outcome == Outcome::Ignored && self.token().is_none();
        if says_nothing || self.terms.unrecorded.is_some() {
            return;
        }
        let elsewhere = std::mem::replace(&mut self.on_drop, OnDrop::Nothing) == OnDrop::SettleElsewhere;
        let took = self.took();
        let again = PermitGuard {
            breaker: self.breaker.share(),
            terms: self.terms.clone(),
            begun: self.begun,
            on_drop: OnDrop::Nothing,
        };
        let settle = move || {
            if let Err(error) = again.settle(outcome, took) {
                events::unreported(again.breaker.handle.host.namespace(), again.breaker.dependency(), &error);
            }
        };
        if elsewhere { Elsewhere::run(settle).detach() } else { settle() }
    }
}
