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
fn a_call_without_a_response_gets_one_of_the_breaker() {
    let answered = |error| {
        AsResponse.respond(error).map(|response: Response<String>| {
            let retry_after = response.headers().get(RETRY_AFTER).map(|value| value.to_str().unwrap().to_owned());
            (response.status().as_u16(), retry_after)
        })
    };
    let deferral = Deferral { retry_after: 4_980, spread: 0, reason: DeferReason::Open, fresh_for: 0, admission: None };
    assert_eq!(answered(CallError::Deferred(deferral)), Ok((503, Some("5".to_owned()))));
    assert_eq!(answered(CallError::TimedOut(Duration::from_secs(1))), Ok((504, None)));
    assert_eq!(answered(CallError::Breaker(BreakerError::InvalidArgument(String::new()))), Ok((503, None)));
    assert_eq!(answered(CallError::Failed("refused")), Err("refused"));
}
