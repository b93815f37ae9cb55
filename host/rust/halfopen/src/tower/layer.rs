//! The layer.

use std::sync::Arc;

use tower_layer::Layer;

use super::{AsError, AsResponse, BreakerService, ErrIsFailure, HttpClassifier};
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
        let BreakerLayer { breaker, classify, respond } = self.clone();
        BreakerService::new(inner, Arc::new(super::service::Parts { breaker, classify, respond }))
    }
}
