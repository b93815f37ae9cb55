//! Making a call through the breaker.

use std::future::Future;

use crate::breaker::Breaker;
use crate::error::CallError;
use crate::wire::Outcome;

impl Breaker {
    /// Asks, makes the call if it may be made, and reports: `Ok` as success, `Err` as failure, a panic as failure.
    ///
    /// While a probe runs its lease is renewed. A closure cannot be cut off: with a [`timeout`](Breaker::timeout), a call
    /// that took so long or longer is reported as timed out, and its result is returned all the same.
    ///
    /// # Errors
    /// [`CallError`]. Failing to report never masks the outcome of the call: it is only traced.
    pub fn call<T, E>(&self, f: impl FnOnce() -> Result<T, E>) -> Result<T, CallError<E>> {
        self.call_with(by_result, f)
    }

    /// [`call`](Breaker::call) with a judgement of your own on what the result says about the dependency.
    ///
    /// # Errors
    /// As [`call`](Breaker::call).
    pub fn call_with<T, E>(
        &self,
        classify: impl FnOnce(&Result<T, E>) -> Outcome,
        f: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, CallError<E>> {
        let _ = (classify, f);
        todo!()
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
        let _ = (classify, f);
        todo!()
    }
}

fn by_result<T, E>(result: &Result<T, E>) -> Outcome {
    match result {
        Ok(_) => Outcome::Success,
        Err(_) => Outcome::Failure,
    }
}
