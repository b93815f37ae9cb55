use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use futures_timer::Delay;
use halfopen_contract::BreakerError;
use halfopen_contract::time::SystemClock;
use halfopen_contract::types::{Outcome, Report, millis};

use super::acquire::Decision;
use super::handle::Breaker;
use super::permit_guard::PermitGuard;
use super::record::Recorded;
use crate::error::CallError;
use crate::events;
use crate::local_admission::{Admitted, LocalBreaker, LocalDecision};

impl Breaker {
    /// Acquires, makes the call if it may be made, and reports: `Ok` as success, `Err` as failure, a panic as failure.
    ///
    /// While a probe runs its lease is renewed. A closure cannot be cut off: with a [`timeout`](Breaker::timeout), a call
    /// that took that time or longer is reported as timed out, and its result is returned all the same.
    ///
    /// # Errors
    /// [`CallError`]. A failure to report never masks the outcome of the call: it is only traced.
    #[inline(always)]
    pub fn call<T, E>(&self, f: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>> {
        self.call_with(by_result, f)
    }

    /// [`call`](Breaker::call) with a judgement of your own on what the result says about the dependency.
    #[inline(always)]
    pub fn call_with<T, E>(
        &self,
        classify: impl FnOnce(&Result<T, E>) -> Outcome,
        f: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        match self.still_admits() {
            Some((epoch, generation)) => call_fast(FastCall { breaker: self, epoch, generation }, classify, f),
            None => self.call_slow(classify, f),
        }
    }

    /// The local breaker, where calls may take the fast path.
    #[inline(always)]
    fn fast_local(&self) -> Option<&LocalBreaker> {
        self.handle.local.as_deref().filter(|_| self.handle.timeout.is_none())
    }

    /// The epoch and the generation that one more call is admitted in, where the fast path found so at this tick.
    #[inline(always)]
    fn still_admits(&self) -> Option<(u64, u32)> {
        let (local, inner) = (self.fast_local()?, &*self.handle.inner);
        if inner.settings.machine_clock { local.still_admits(&SystemClock) } else { local.still_admits(&*inner.clock) }
    }

    #[inline(never)]
    fn call_slow<T, E>(
        &self,
        classify: impl FnOnce(&Result<T, E>) -> Outcome,
        f: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        if let Some((epoch, generation)) = self.fast_local().and_then(|local| local.admits(&*self.handle.inner.clock)) {
            return call_fast(FastCall { breaker: self, epoch, generation }, classify, f);
        }
        let decision = match self.recall() {
            Some(LocalDecision::Defer(deferral)) => return Err(CallError::Deferred(deferral)),
            Some(recalled) => self.hand_out(recalled),
            None => self.acquire()?,
        };
        let guard = admitted(decision)?;
        let keeper = guard.keep_alive();
        let result = f();
        let took = guard.took();
        drop(keeper);
        let outcome = match classify(&result) {
            Outcome::Ignored => Outcome::Ignored,
            _ if self.handle.timeout.zip(took).is_some_and(|(limit, took)| took >= limit) => Outcome::Timeout,
            outcome => outcome,
        };
        self.trace(guard.report(timed(outcome, took)));
        result.map_err(CallError::Failed)
    }

    /// Acquires, makes the call if it may be made, and reports, without blocking the thread.
    ///
    /// With a [`timeout`](Breaker::timeout), the future is dropped when it has run for that time, and that is reported as
    /// a timeout. Where the future of `call_async` itself is dropped, the call counts as ignored: a limit set from
    /// outside, around this, hides a dependency that hangs. Use `timeout` instead.
    ///
    /// # Errors
    /// [`CallError`]. A failure to report never masks the outcome of the call: it is only traced.
    pub async fn call_async<T, E, F>(&self, f: impl FnOnce() -> F) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        self.call_async_with(by_result, f).await
    }

    /// [`call_async`](Breaker::call_async) with a judgement of your own on what the result says about the dependency.
    pub async fn call_async_with<T, E, F>(
        &self,
        classify: impl FnOnce(&Result<T, E>) -> Outcome,
        f: impl FnOnce() -> F,
    ) -> Result<T, CallError<E>>
    where
        F: Future<Output = Result<T, E>>,
    {
        let guard = admitted(self.acquire_async().await?)?;
        let keeper = guard.keep_alive();
        // Dropped at the end of its limit, and so cut off, before that is reported.
        let result = within(self.handle.timeout, f()).await;
        let took = guard.took();
        drop(keeper);
        let Some(result) = result else {
            self.trace(guard.report_async(timed(Outcome::Timeout, took)).await);
            return Err(CallError::TimedOut(self.handle.timeout.unwrap_or_default()));
        };
        self.trace(guard.report_async(timed(classify(&result), took)).await);
        result.map_err(CallError::Failed)
    }

    #[inline]
    fn trace(&self, reported: Result<Recorded, BreakerError>) {
        if let Err(error) = reported {
            events::unreported(self.handle.inner.namespace(), self.dependency(), &error);
        }
    }
}

/// The permit of a call on the fast path. It holds no handle, so that threads which share a breaker write nothing that they
/// share; nearly every call has it, and so it is as small as can be.
struct FastCall<'a> {
    breaker: &'a Breaker,
    epoch: u64,
    generation: u32,
}

impl FastCall<'_> {
    /// Records the outcome. A failure to do so is only traced.
    #[inline(always)]
    fn settle(self, outcome: Outcome) {
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

#[inline(always)]
fn call_fast<T, E>(
    call: FastCall<'_>,
    classify: impl FnOnce(&Result<T, E>) -> Outcome,
    f: impl FnOnce() -> Result<T, E>,
) -> Result<T, CallError<E>> {
    let result = f();
    call.settle(classify(&result));
    result.map_err(CallError::Failed)
}

/// The permit in a decision, or the deferral.
fn admitted<E>(decision: Decision) -> Result<PermitGuard, CallError<E>> {
    match decision {
        Decision::Proceed(guard) | Decision::Probe(guard) => Ok(guard),
        Decision::Defer(deferral) => Err(CallError::Deferred(deferral)),
    }
}

fn timed(outcome: Outcome, took: Option<Duration>) -> Report {
    Report { took: took.map(millis), ..outcome.into() }
}

/// The output of a future, or none where it takes the limit or longer.
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
