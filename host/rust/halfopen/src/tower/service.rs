//! The service.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tower_service::Service;

use super::{AsError, Classify, ErrIsFailure, Respond};
use crate::breaker::Breaker;

/// A service behind a breaker. See [the module](super).
#[derive(Debug)]
pub struct BreakerService<S, C = ErrIsFailure, A = AsError> {
    inner: S,
    parts: Arc<Parts<C, A>>,
}

/// The parts that clones of a service share.
#[derive(Debug)]
pub(super) struct Parts<C, A> {
    pub breaker: Breaker,
    pub classify: C,
    pub respond: A,
}

impl<S, C, A> BreakerService<S, C, A> {
    pub(super) fn new(inner: S, parts: Arc<Parts<C, A>>) -> Self {
        BreakerService { inner, parts }
    }

    /// The breaker.
    pub fn breaker(&self) -> &Breaker {
        &self.parts.breaker
    }

    /// The service behind the breaker.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// The service, without its breaker.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: Clone, C, A> Clone for BreakerService<S, C, A> {
    fn clone(&self) -> Self {
        BreakerService { inner: self.inner.clone(), parts: self.parts.clone() }
    }
}

impl<S, C, A, Request> Service<Request> for BreakerService<S, C, A>
where
    S: Service<Request> + Clone + Send + 'static,
    S::Future: Send,
    S::Response: Send,
    S::Error: Send,
    Request: Send + 'static,
    C: Classify<S::Response, S::Error> + Send + Sync + 'static,
    A: Respond<S::Response, S::Error> + Send + Sync + 'static,
{
    type Response = S::Response;
    type Error = A::Error;
    type Future = ResponseFuture<S::Response, A::Error>;

    /// Always ready: the inner service is waited for once the breaker has admitted the call.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let (mut inner, parts) = (self.inner.clone(), self.parts.clone());
        ResponseFuture(Box::pin(async move {
            let call = || async move {
                poll_fn(|cx| inner.poll_ready(cx)).await?;
                inner.call(request).await
            };
            let called = parts.breaker.call_async_with(|result| parts.classify.classify(result), call).await;
            called.or_else(|error| parts.respond.respond(error))
        }))
    }
}

/// The response to come. Dropped, it gives the permit of its call back.
#[must_use = "a call is made when its future is polled"]
pub struct ResponseFuture<Response, Error>(Pin<Box<dyn Future<Output = Result<Response, Error>> + Send>>);

impl<Response, Error> Future for ResponseFuture<Response, Error> {
    type Output = Result<Response, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx)
    }
}

impl<Response, Error> std::fmt::Debug for ResponseFuture<Response, Error> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
