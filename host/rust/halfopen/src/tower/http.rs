//! HTTP: statuses as outcomes, and deferrals as responses.

use std::ops::RangeInclusive;
use std::time::Duration;

use http::header::{HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};

use super::{Answer, Classify};
use crate::error::CallError;
use halfopen_contract::types::Outcome;

/// Judges by the status: 5xx is a failure, 408 and 504 are timeouts (which count as failures), and the rest is a success;
/// an `Err` is a failure. It judges when the head of the response is there, whatever becomes of the body.
///
/// To judge errors apart, ask it from a closure:
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
/// so that callers do not return together; a call that was cut off is 504; a breaker that could not be asked is 503, and
/// is told through `tracing`. An error of the inner service stays one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AsResponse;

impl<Body: Default, Error> Answer<Response<Body>, Error> for AsResponse {
    type Error = Error;

    fn answer(&self, error: CallError<Error>) -> Result<Response<Body>, Error> {
        let (status, retry_after) = match error {
            CallError::Deferred(deferral) => (StatusCode::SERVICE_UNAVAILABLE, Some(deferral.wait())),
            CallError::TimedOut(_) => (StatusCode::GATEWAY_TIMEOUT, None),
            CallError::Breaker(error) => {
                tracing::warn!(%error, "a call was not made: the breaker could not be asked");
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

/// Rounded up: who comes back too early is deferred again.
fn seconds(wait: Duration) -> u64 {
    wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BreakerError;
    use halfopen_contract::types::{DeferReason, Deferral};

    fn judged(classifier: &HttpClassifier, status: u16) -> Outcome {
        let response = Response::builder().status(status).body(()).unwrap();
        classifier.classify(&Ok::<_, ()>(response))
    }

    #[test]
    fn a_5xx_is_a_failure_and_a_timeout_is_one_by_its_own_name() {
        let classifier = HttpClassifier::new();
        for status in [200, 204, 302, 400, 404, 407, 409, 429, 499] {
            assert_eq!(judged(&classifier, status), Outcome::Success, "{status}");
        }
        for status in [500, 502, 503, 505, 599] {
            assert_eq!(judged(&classifier, status), Outcome::Failure, "{status}");
        }
        for status in [408, 504] {
            assert_eq!(judged(&classifier, status), Outcome::Timeout, "{status}");
        }
        assert_eq!(classifier.classify(&Err::<Response<()>, _>("refused")), Outcome::Failure);
    }

    #[test]
    fn statuses_can_be_judged_otherwise_and_the_last_word_counts() {
        let classifier = HttpClassifier::new()
            .judge(400..=499, Outcome::Ignored)
            .judge(429..=429, Outcome::Failure)
            .judge(501..=501, Outcome::Success);
        assert_eq!(judged(&classifier, 404), Outcome::Ignored);
        assert_eq!(judged(&classifier, 408), Outcome::Ignored);
        assert_eq!(judged(&classifier, 429), Outcome::Failure);
        assert_eq!(judged(&classifier, 501), Outcome::Success);
        assert_eq!(judged(&classifier, 500), Outcome::Failure);
    }

    #[test]
    fn seconds_are_rounded_up() {
        for (ms, wanted) in [(1, 1), (999, 1), (1_000, 1), (1_001, 2), (4_980, 5)] {
            assert_eq!(seconds(Duration::from_millis(ms)), wanted, "{ms} ms");
        }
        assert_eq!(seconds(Duration::MAX), u64::MAX);
    }

    #[test]
    fn who_gets_no_response_gets_one_of_the_breaker() {
        let answered = |error| {
            AsResponse.answer(error).map(|response: Response<String>| {
                let retry_after = response.headers().get(RETRY_AFTER).map(|value| value.to_str().unwrap().to_owned());
                (response.status().as_u16(), retry_after)
            })
        };
        let deferral =
            Deferral { retry_after: 4_980, spread: 0, reason: DeferReason::Open, fresh_for: 0, admission: None };
        assert_eq!(answered(CallError::Deferred(deferral)), Ok((503, Some("5".to_owned()))));
        assert_eq!(answered(CallError::TimedOut(Duration::from_secs(1))), Ok((504, None)));
        assert_eq!(answered(CallError::Breaker(BreakerError::InvalidArgument(String::new()))), Ok((503, None)));
        assert_eq!(answered(CallError::Failed("refused")), Err("refused"));
    }
}
