//! Making a call through the breaker.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use futures_timer::Delay;

use crate::admission::{Admission, PlainCall};
use crate::breaker::Breaker;
use crate::clock::Clock;
use crate::error::{BreakerError, CallError};
use crate::events;
use crate::local::Plain;
use crate::recorded::Recorded;
use crate::wire::Outcome;

impl Breaker {
    /// Asks, makes the call if it may be made, and reports: `Ok` as success, `Err` as failure, a panic as failure.
    ///
    /// While a probe runs its lease is renewed. A closure cannot be cut off: with a [`timeout`](Breaker::timeout), a call
    /// that took so long or longer is reported as timed out, and its result is returned all the same.
    ///
    /// # Errors
    /// [`CallError`]. Failing to report never masks the outcome of the call: it is only traced.
    #[inline(always)]
    pub fn call<T, E>(&self, f: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>> {
        self.call_with(by_result, f)
    }

    /// [`call`](Breaker::call) with a judgement of your own on what the result says about the dependency.
    ///
    /// # Errors
    /// As [`call`](Breaker::call).
    #[inline(always)]
    pub fn call_with<T, E>(
        &self,
        classify: impl FnOnce(&Result<T, E>) -> Outcome,
        f: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        match self.still_admits() {
            Some((epoch, generation)) => self.call_plainly(PlainCall::new(self, epoch, generation), classify, f),
            None => self.call_by_a_closer_look(classify, f),
        }
    }

    #[inline(always)]
    fn call_plainly<T, E>(
        &self,
        call: PlainCall<'_>,
        classify: impl FnOnce(&Result<T, E>) -> Outcome,
        f: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        let result = f();
        call.settle(classify(&result));
        result.map_err(CallError::Failed)
    }

    #[inline(never)]
    fn call_by_a_closer_look<T, E>(
        &self,
        classify: impl FnOnce(&Result<T, E>) -> Outcome,
        f: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        match self.plainly() {
            Plain::Admit { epoch, generation } => {
                return self.call_plainly(PlainCall::new(self, epoch, generation), classify, f);
            }
            Plain::Refuse { age } => {
                if let Some(deferral) = self.refusal(age) {
                    return Err(CallError::Deferred(deferral));
                }
            }
            Plain::Else => {}
        }
        self.call_the_long_way(classify, f)
    }

    #[inline(never)]
    fn call_the_long_way<T, E>(
        &self,
        classify: impl FnOnce(&Result<T, E>) -> Outcome,
        f: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        let admission = Admission::of(self, self.admit()?).map_err(CallError::Deferred)?;
        let keeper = admission.keep_alive();
        let begun = admission.begun();
        let result = f();
        let took = begun.map(|begun| self.clock().monotonic().saturating_sub(begun));
        drop(keeper);
        let outcome = match classify(&result) {
            Outcome::Ignored => Outcome::Ignored,
            _ if self.handle.timeout.zip(took).is_some_and(|(limit, took)| took >= limit) => Outcome::Timeout,
            outcome => outcome,
        };
        self.trace(admission.report(outcome, took));
        result.map_err(CallError::Failed)
    }

    /// Asks, makes the call if it may be made, and reports, without blocking the thread.
    ///
    /// With a [`timeout`](Breaker::timeout), the future is dropped when it has run for so long, and that is reported as
    /// a timeout. Where the future of `call_async` itself is dropped, the call counts as ignored: a limit set from
    /// outside, around this, hides a dependency that hangs. Use `timeout` instead.
    ///
    /// # Errors
    /// [`CallError`]. Failing to report never masks the outcome of the call: it is only traced.
    pub async fn call_async<T, E, F>(&self, f: impl FnOnce() -> F) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        self.call_async_with(by_result, f).await
    }

    /// [`call_async`](Breaker::call_async) with a judgement of your own on what the result says about the dependency.
    ///
    /// # Errors
    /// As [`call_async`](Breaker::call_async).
    pub async fn call_async_with<T, E, F>(
        &self,
        classify: impl FnOnce(&Result<T, E>) -> Outcome,
        f: impl FnOnce() -> F,
    ) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        let admission = Admission::of(self, self.admit_async().await?).map_err(CallError::Deferred)?.settle_elsewhere();
        let keeper = admission.keep_alive();
        let begun = admission.begun();
        // Dropped at the end of its limit, and so cut off, before that is reported.
        let result = within(self.handle.timeout, f()).await;
        let took = begun.map(|begun| self.clock().monotonic().saturating_sub(begun));
        drop(keeper);
        let Some(result) = result else {
            self.trace(admission.report_async(Outcome::Timeout, took).await);
            return Err(CallError::TimedOut(self.handle.timeout.unwrap_or_default()));
        };
        self.trace(admission.report_async(classify(&result), took).await);
        result.map_err(CallError::Failed)
    }

    fn clock(&self) -> &dyn Clock {
        &*self.handle.host.inner.clock
    }

    #[inline]
    pub(crate) fn trace(&self, reported: Result<Recorded, BreakerError>) {
        if let Err(error) = reported {
            events::unreported(self.handle.host.namespace(), self.dependency(), &error);
        }
    }
}

/// The output of a future, or none where it takes so long or longer.
async fn within<F: Future>(limit: Option<Duration>, future: F) -> Option<F::Output> {
    let Some(limit) = limit else { return Some(future.await) };
    let mut future = pin!(future);
    let mut delay = Delay::new(limit);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => Pin::new(&mut delay).poll(cx).map(|()| None),
    })
    .await
}

fn by_result<T, E>(result: &Result<T, E>) -> Outcome {
    match result {
        Ok(_) => Outcome::Success,
        Err(_) => Outcome::Failure,
    }
}
