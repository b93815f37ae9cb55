//! HTTP: statuses as outcomes, and deferrals as responses.

use std::ops::RangeInclusive;
use std::time::Duration;

use http::header::{HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};

use super::{Classify, Respond};
use crate::error::CallError;
use halfopen_contract::types::Outcome;

/// Judges by the status: 5xx is a failure, 408 and 504 are timeouts (which count as failures), and the rest is a success;
/// an `Err` is a failure. It judges when the head of the response is there, whatever becomes of the body.
///
/// To judge errors apart, call it from a closure:
///
/// ```
/// use halfopen::Outcome;
/// use halfopen::tower::{Classify, HttpClassifier};
/// use http::Response;
/// use std::io::{Error, ErrorKind};
///
/// let statuses = HttpClassifier::new();
/// let judge = move |result: &Result<Response<String>, Error>| match result {
///     // The caller's own mistake says nothing about the dependency.
///     Err(error) if error.kind() == ErrorKind::InvalidInput => Outcome::Ignored,
///     Err(error) if error.kind() == ErrorKind::TimedOut => Outcome::Timeout,
///     other => statuses.classify(other),
/// };
/// assert_eq!(judge.classify(&Err(ErrorKind::InvalidInput.into())), Outcome::Ignored);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpClassifier {
    /// Later ones go before earlier ones.
    judged: Vec<(RangeInclusive<u16>, Outcome)>,
}

impl HttpClassifier {
    /// The classifier as it is described above.
    pub fn new() -> Self {
        HttpClassifier::default()
    }

    /// Judges some statuses otherwise than so far: `judge(429..=429, Outcome::Failure)`.
    #[must_use]
    pub fn judge(mut self, statuses: RangeInclusive<u16>, outcome: Outcome) -> Self {
        self.judged.push((statuses, outcome));
        self
    }

    fn of(&self, status: StatusCode) -> Outcome {
        let own = self.judged.iter().rev().find(|(statuses, _)| statuses.contains(&status.as_u16()));
        match own {
            Some((_, outcome)) => *outcome,
            None if matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT) => Outcome::Timeout,
            None if status.is_server_error() => Outcome::Failure,
            None => Outcome::Success,
        }
    }
}

impl<Body, Error> Classify<Response<Body>, Error> for HttpClassifier {
    fn classify(&self, result: &Result<Response<Body>, Error>) -> Outcome {
        match result {
            Ok(response) => self.of(response.status()),
            Err(_) => Outcome::Failure,
        }
    }
}

/// Responses without a body: a deferral is 503 with `Retry-After` in seconds, rounded up, with its random `spread` on top
/// so that callers do not return together; a call that was cut off is 504; a breaker that could not decide is 503, and
/// an event for `tracing`. An error of the inner service stays one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AsResponse;

impl<Body: Default, Error> Respond<Response<Body>, Error> for AsResponse {
    type Error = Error;

    fn respond(&self, error: CallError<Error>) -> Result<Response<Body>, Error> {
        let (status, retry_after) = match error {
            CallError::Deferred(deferral) => (StatusCode::SERVICE_UNAVAILABLE, Some(deferral.wait())),
            CallError::TimedOut(_) => (StatusCode::GATEWAY_TIMEOUT, None),
            CallError::Breaker(error) => {
                tracing::warn!(%error, "a call was not made: the breaker could not decide");
                (StatusCode::SERVICE_UNAVAILABLE, None)
            }
            CallError::Failed(error) => return Err(error),
        };
        let mut response = Response::new(Body::default());
        *response.status_mut() = status;
        if let Some(wait) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds(wait)));
        }
        Ok(response)
    }
}

/// Rounded up: a caller that comes back too early is deferred again.
fn seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests;
