//! The layer, and the services that it makes.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

use super::{AsError, AsResponse, Classify, ErrIsFailure, HttpClassifier, Respond};
use crate::breaker::Breaker;

/// Puts a breaker in front of a service. See [the module](super).
#[derive(Clone, Debug)]
pub struct BreakerLayer<C = ErrIsFailure, A = AsError> {
    breaker: Breaker,
    classify: C,
    respond: A,
}

impl BreakerLayer {
    /// For a service of any kind: an `Err` is a failure, and a deferral is an error.
    pub fn new(breaker: Breaker) -> Self {
        BreakerLayer { breaker, classify: ErrIsFailure, respond: AsError }
    }
}

impl BreakerLayer<HttpClassifier, AsResponse> {
    /// For a service that answers `http::Response`: see [`HttpClassifier`] and [`AsResponse`].
    pub fn http(breaker: Breaker) -> Self {
        BreakerLayer { breaker, classify: HttpClassifier::new(), respond: AsResponse }
    }
}

impl<C, A> BreakerLayer<C, A> {
    /// Judges outcomes otherwise: a [`Classify`](super::Classify).
    #[must_use]
    pub fn classify<D>(self, classify: D) -> BreakerLayer<D, A> {
        BreakerLayer { breaker: self.breaker, classify, respond: self.respond }
    }

    /// Sets the responses to calls without one: a [`Respond`](super::Respond).
    #[must_use]
    pub fn respond<B>(self, respond: B) -> BreakerLayer<C, B> {
        BreakerLayer { breaker: self.breaker, classify: self.classify, respond }
    }
}

impl<S, C: Clone, A: Clone> Layer<S> for BreakerLayer<C, A> {
    type Service = BreakerService<S, C, A>;

    fn layer(&self, inner: S) -> Self::Service {
        BreakerService { inner, layer: Arc::new(self.clone()) }
    }
}

/// A service behind a breaker. See [the module](super).
#[derive(Clone, Debug)]
pub struct BreakerService<S, C = ErrIsFailure, A = AsError> {
    inner: S,
    layer: Arc<BreakerLayer<C, A>>,
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
        let (mut inner, layer) = (self.inner.clone(), self.layer.clone());
        Box::pin(async move {
            let call = || async move {
                poll_fn(|cx| inner.poll_ready(cx)).await?;
                inner.call(request).await
            };
            let called = layer.breaker.call_async_with(|result| layer.classify.classify(result), call).await;
            called.or_else(|error| layer.respond.respond(error))
        })
    }
}

/// The response to come. Dropped, it gives the permit of its call back.
pub type ResponseFuture<Response, Error> = Pin<Box<dyn Future<Output = Result<Response, Error>> + Send>>;
