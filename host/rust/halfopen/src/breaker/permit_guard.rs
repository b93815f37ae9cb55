use std::time::Duration;

use halfopen_contract::BreakerError;
use halfopen_contract::store::StoreError;
use halfopen_contract::time::Clock;
use halfopen_contract::types::{Outcome, Permit, Receipt, Report, millis};

use super::handle::Breaker;
use super::lease_keeper::LeaseKeeper;
use super::permit_terms::PermitTerms;
use super::record::Recorded;
use crate::events;
use crate::spawn_blocking::spawn_blocking;

/// A permit, to be settled with the outcome of the call.
///
/// Dropped without a report it is given back, as if ignored (a permit without a lease then writes nothing); dropped by a
/// panic it is reported as a failure.
#[derive(Debug)]
#[must_use = "a permit that is dropped is given back"]
pub struct PermitGuard {
    breaker: Breaker,
    terms: PermitTerms,
    /// The monotonic time of its grant; none where the time that the call takes does not count.
    begun: Option<Duration>,
    on_drop: OnDrop,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDrop {
    Settle,
    /// Settle on another thread, so that the one that drops does not wait.
    SettleInBackground,
    Nothing,
}

impl PermitGuard {
    pub(super) fn new(breaker: &Breaker, terms: PermitTerms) -> Self {
        // Where the policy has no slow calls the time makes no difference, and reading a clock is most of what a call costs.
        let is_timed = terms.generation.is_none() || terms.slower_than.is_some() || breaker.handle.timeout.is_some();
        let begun = is_timed.then(|| breaker.handle.inner.clock.monotonic());
        PermitGuard { breaker: breaker.share(), terms, begun, on_drop: OnDrop::Settle }
    }

    /// Settles it on another thread where it is dropped.
    pub(super) fn settle_in_background(&mut self) {
        self.on_drop = OnDrop::SettleInBackground;
    }

    fn clock(&self) -> &dyn Clock {
        &*self.breaker.handle.inner.clock
    }

    /// The permit, as plain data.
    pub fn permit(&self) -> Permit {
        self.terms.permit
    }

    /// The token of the lease, for a probe: tokens only ever rise for a dependency, so it serves as a fencing token.
    pub fn token(&self) -> Option<u64> {
        self.terms.permit.lease
    }

    /// The rest of the lease as it was granted; none without a lease. Renewing lengthens the lease and not this.
    pub fn expires_in(&self) -> Option<Duration> {
        self.terms.expires_in.map(|length| self.rest_of(length))
    }

    /// The time from now for which this process may admit further calls under this permit.
    pub fn fresh_for(&self) -> Duration {
        self.rest_of(self.terms.fresh_for)
    }

    fn rest_of(&self, length: u64) -> Duration {
        Duration::from_millis(length).saturating_sub(self.terms.request_time.elapsed(self.clock()))
    }

    /// The percentage of those further calls that it may admit: below 100 during a ramp.
    pub fn percent(&self) -> u32 {
        self.terms.percent
    }

    /// A call that takes this time or longer is slow; none where the policy has no slow calls.
    pub fn slower_than(&self) -> Option<Duration> {
        self.terms.slower_than.map(Duration::from_millis)
    }

    /// The store's error, where nothing of this call will be recorded: the host admits calls without its store
    /// ([`OnStoreError`](crate::OnStoreError)). None for a permit of the engine.
    pub fn unrecorded(&self) -> Option<&StoreError> {
        self.terms.unrecorded.as_deref()
    }

    /// Renews the lease in the background while the keeper lives; none without a lease.
    pub fn keep_alive(&self) -> Option<LeaseKeeper> {
        let length = Duration::from_millis(self.terms.expires_in?);
        Some(LeaseKeeper::start(&self.breaker, self.terms.permit, length))
    }

    /// Reports a success that took from the grant of the permit until now.
    pub fn success(self) -> Result<Recorded, BreakerError> {
        let report = self.timed(Outcome::Success);
        self.report(report)
    }

    /// Reports a failure that took from the grant of the permit until now.
    pub fn failure(self) -> Result<Recorded, BreakerError> {
        let report = self.timed(Outcome::Failure);
        self.report(report)
    }

    /// Reports a call that was given up after a time limit.
    pub fn timed_out(self) -> Result<Recorded, BreakerError> {
        let report = self.timed(Outcome::Timeout);
        self.report(report)
    }

    /// Gives the permit back: the call says nothing about the dependency.
    pub fn ignore(self) -> Result<Recorded, BreakerError> {
        self.report(Outcome::Ignored)
    }

    /// Reports an outcome. A report without [`took`](Report::took) is of a call whose time is not known.
    ///
    /// Where calls are admitted from memory, a success is counted in memory: [`Recorded::Later`]. So is an outcome while the
    /// store cannot be reached: it is retried in the background while it can count. A failure without a caller gets that of
    /// the breaker.
    ///
    /// # Errors
    /// [`BreakerError`], but not that the store is unavailable; for a permit that is [`unrecorded`](PermitGuard::unrecorded),
    /// the store's error.
    #[inline]
    pub fn report(mut self, report: impl Into<Report>) -> Result<Recorded, BreakerError> {
        self.on_drop = OnDrop::Nothing;
        self.settle(report.into())
    }

    /// [`report`](PermitGuard::report) for async code: the store is written on a thread for blocking work. Once this has been
    /// polled the report is made, even if the future is dropped.
    pub async fn report_async(mut self, report: impl Into<Report>) -> Result<Recorded, BreakerError> {
        let report = report.into();
        let admitted = self.terms.without_lease();
        match admitted.and_then(|admitted| self.breaker.record_in_memory(admitted, report.outcome, report.took)) {
            Some(recorded) => {
                self.on_drop = OnDrop::Nothing;
                Ok(recorded)
            }
            None => spawn_blocking(move || self.report(report)).await,
        }
    }

    /// Renews the lease once. See [`Breaker::renew`].
    pub fn renew(&self) -> Result<Receipt, BreakerError> {
        self.breaker.renew(self.terms.permit)
    }

    /// The permit as plain data, for another process or thread to report with: nothing happens when it is dropped.
    pub fn into_permit(mut self) -> Permit {
        self.on_drop = OnDrop::Nothing;
        self.terms.permit
    }

    /// The time since its grant; none where it does not count.
    pub(super) fn took(&self) -> Option<Duration> {
        self.begun.map(|begun| self.clock().monotonic().saturating_sub(begun))
    }

    fn timed(&self, outcome: Outcome) -> Report {
        Report { took: self.took().map(millis), ..outcome.into() }
    }

    #[inline]
    fn settle(&self, report: Report) -> Result<Recorded, BreakerError> {
        match (self.terms.without_lease(), self.unrecorded()) {
            (Some(admitted), _) => self.breaker.record(admitted, report),
            (None, Some(error)) => Err(error.clone().into()),
            (None, None) => self.settle_lease(report),
        }
    }

    /// Reports the outcome of a probe. While the store cannot be reached it waits in the outbox, until the lease has ended.
    fn settle_lease(&self, report: Report) -> Result<Recorded, BreakerError> {
        let report = self.breaker.attributed(report);
        let error = match self.breaker.report(self.terms.permit, report.clone()) {
            Ok(receipt) => return Ok(Recorded::Now(receipt)),
            Err(error) => error,
        };
        // It may have been renewed, and so be whole by now.
        let Some(length) = self.terms.expires_in.filter(|_| error.is_outage()) else { return Err(error) };
        let handle = &*self.breaker.handle;
        events::postponed(handle.inner.namespace(), &handle.dependency, &error);
        let ends_in = Duration::from_millis(length);
        handle.inner.outbox.add_leased(&handle.dependency, self.terms.permit, report, ends_in);
        Ok(Recorded::Later)
    }

    #[cold]
    fn dropped(&mut self) {
        let outcome = if std::thread::panicking() { Outcome::Failure } else { Outcome::Ignored };
        // Without a lease, an ignored call counts nowhere and writes nothing.
        let says_nothing = outcome == Outcome::Ignored && self.token().is_none();
        if says_nothing || self.terms.unrecorded.is_some() {
            return;
        }
        let in_background = std::mem::replace(&mut self.on_drop, OnDrop::Nothing) == OnDrop::SettleInBackground;
        let report = self.timed(outcome);
        let again = PermitGuard {
            breaker: self.breaker.share(),
            terms: self.terms.clone(),
            begun: self.begun,
            on_drop: OnDrop::Nothing,
        };
        let settle = move || {
            if let Err(error) = again.settle(report) {
                let handle = &*again.breaker.handle;
                events::unreported(handle.inner.namespace(), &handle.dependency, &error);
            }
        };
        if in_background { drop(spawn_blocking(settle)) } else { settle() }
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
