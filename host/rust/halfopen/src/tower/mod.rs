//! A breaker in front of any tower service (feature `tower`).
//!
//! ```
//! use std::time::Duration;
//!
//! use halfopen::Host;
//! use halfopen::tower::BreakerLayer;
//! use http::{Request, Response};
//!
//! # use std::future::{Ready, ready};
//! # use std::task::{Context, Poll};
//! # use tower_layer::Layer;
//! # use tower_service::Service;
//! # #[derive(Clone)]
//! # struct Client;
//! # impl Service<Request<String>> for Client {
//! #     type Response = Response<String>;
//! #     type Error = std::io::Error;
//! #     type Future = Ready<Result<Response<String>, std::io::Error>>;
//! #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), std::io::Error>> { Poll::Ready(Ok(())) }
//! #     fn call(&mut self, _: Request<String>) -> Self::Future { ready(Ok(Response::new("charged".into()))) }
//! # }
//! # let client = Client;
//! let host = Host::open("memory")?;
//! let payments = host.breaker("payments").timeout(Duration::from_secs(2));
//!
//! // With a classifier of HTTP statuses, and deferrals as responses with status 503 and `Retry-After`:
//! let mut service = BreakerLayer::http(payments).layer(client);
//! let response = futures_lite::future::block_on(service.call(Request::new("17.00".to_owned())))?;
//! assert_eq!(response.status(), 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! - [`BreakerLayer::new`] puts a breaker in front of a service of any kind: an `Err` is a failure, and a deferral is the
//!   error [`CallError::Deferred`](crate::CallError), which carries `retry_after`.
//! - [`BreakerLayer::http`] does so for HTTP, as above.
//! - [`Classify`] judges what a result says about the dependency; [`Respond`] responds to calls that have no response.
//!   Both can be your own.
//!
//! A call is made under a permit of [`Breaker::call_async`](crate::Breaker::call_async), so that all it promises holds
//! here: a future that is dropped gives its permit back, a panic is a failure, the lease of a probe is renewed while it
//! runs, and a [`timeout`](crate::Breaker::timeout) of the breaker cuts the call off and counts. Prefer it to a timeout
//! layer around this one, which drops the future, and so hides a dependency that hangs; a timeout layer inside of this one
//! is an `Err` like others.
//!
//! The service is always ready. An inner service that is not is waited for under the permit: a deferred call never waits
//! for the dependency, and an error while it gets ready is a failure. Limits on load go around this layer. Each call has a
//! clone of the inner service; one that cannot be cloned goes behind tower's `Buffer`.
//!
//! The store is read and written on threads for blocking work, never on the one that polls. A store that fails takes no
//! response away: a call whose outcome cannot be recorded is answered all the same, and whether calls are made while the
//! breaker cannot decide is the host's [`OnStoreError`](crate::OnStoreError). By default
//! they are not: the answer is [`CallError::Breaker`](crate::CallError), and 503 in HTTP. Keep a [`Host`](crate::Host) for
//! as long as the server runs: the last handle flushes the successes in memory, on the thread that drops it.

mod classify;
mod http;
mod respond;
mod service;

pub use self::classify::{Classify, ErrIsFailure};
pub use self::http::{AsResponse, HttpClassifier};
pub use self::respond::{AsError, Respond};
pub use self::service::{BreakerLayer, BreakerService, ResponseFuture};

#[cfg(test)]
mod store_tests;
#[cfg(test)]
mod tests;
