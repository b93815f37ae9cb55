use std::future::{Ready, pending, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use ::http::{Request, Response, StatusCode};
use futures_lite::future::{block_on, or};
use tower_layer::Layer;
use tower_service::Service;

use super::*;
use crate::{Breaker, CallError, Decision, Host, Mode, Outcome, Policy, State, TransitionReason};

pub(super) const MS: Duration = Duration::from_millis(1);

/// A service of two closures: one gets it ready, one makes the call.
#[derive(Clone)]
pub(super) struct Fake<R, F> {
    ready: R,
    call: F,
}

impl<Req, Res, Err, R, F, Fut> Service<Req> for Fake<R, F>
where
    R: FnMut() -> Poll<Result<(), Err>>,
    F: FnMut(Req) -> Fut,
    Fut: Future<Output = Result<Res, Err>>,
{
    type Response = Res;
    type Error = Err;
    type Future = Fut;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Err>> {
        (self.ready)()
    }

    fn call(&mut self, request: Req) -> Fut {
        (self.call)(request)
    }
}

/// A service that is always ready.
pub(super) fn service<Req, Res, Err, F, Fut>(
    call: F,
) -> Fake<impl FnMut() -> Poll<Result<(), Err>> + Clone + Send + 'static, F>
where
    F: FnMut(Req) -> Fut,
    Fut: Future<Output = Result<Res, Err>>,
{
    Fake { ready: || Poll::Ready(Ok(())), call }
}

fn breaker(policy: Policy) -> Breaker {
    Host::builder().default_policy(policy).build().unwrap().breaker("a")
}

/// A breaker that caches no decision and whose first failure trips it.
fn touchy() -> Breaker {
    breaker(Policy::new().consecutive_failures(1).fresh_ms(0))
}

/// Open, with a probe due.
pub(super) fn due(breaker: &Breaker) {
    breaker.force(Mode::Open, None, "").unwrap();
    breaker.force(Mode::None, None, "").unwrap();
}

pub(super) fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < 20_000 * MS, "{what} has not come");
        std::thread::sleep(5 * MS);
    }
}

#[test]
fn an_err_is_a_failure_and_a_deferral_has_retry_after() {
    let breaker = touchy();
    let made = Arc::new(AtomicU32::new(0));
    let counted = made.clone();
    let mut service = BreakerLayer::new(breaker.clone()).layer(service(move |up: bool| {
        counted.fetch_add(1, Ordering::Relaxed);
        ready(if up { Ok("receipt") } else { Err("refused") })
    }));
    assert_eq!(block_on(service.call(true)), Ok("receipt"));
    assert_eq!(block_on(service.call(false)), Err(CallError::Failed("refused")));
    let Err(CallError::Deferred(deferral)) = block_on(service.clone().call(true)) else { panic!("not deferred") };
    assert!((1..=6_000).contains(&deferral.retry_after), "{deferral:?}");
    assert_eq!(made.load(Ordering::Relaxed), 2, "a deferred call was made");
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
}

#[test]
fn a_classifier_of_your_own_decides_what_counts() {
    let breaker = touchy();
    let judge = |result: &Result<u32, &str>| match result {
        Ok(0) => Outcome::Failure,
        Ok(_) => Outcome::Success,
        Err(_) => Outcome::Ignored,
    };
    let answer_to = |n: u32| ready(if n == 9 { Err("not found") } else { Ok(n) });
    let mut service = BreakerLayer::new(breaker.clone()).classify(judge).layer(service(answer_to));
    assert_eq!(block_on(service.call(9)), Err(CallError::Failed("not found")));
    assert_eq!(block_on(service.call(1)), Ok(1));
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
    assert_eq!(block_on(service.call(0)), Ok(0));
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
}

#[test]
fn http_failures_trip_and_deferred_requests_get_503_with_retry_after() {
    let breaker = touchy();
    let answer = |request: Request<u16>| {
        let response = Response::builder().status(*request.body()).body("body".to_owned());
        ready(Ok::<_, std::convert::Infallible>(response.unwrap()))
    };
    let mut service = BreakerLayer::http(breaker.clone()).layer(service(answer));
    let mut send = |status: u16| block_on(service.call(Request::new(status))).unwrap();
    assert_eq!(send(404).status(), StatusCode::NOT_FOUND);
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
    let failed = send(500);
    assert_eq!((failed.status(), failed.body().as_str()), (StatusCode::INTERNAL_SERVER_ERROR, "body"));
    let deferred = send(200);
    assert_eq!((deferred.status(), deferred.body().as_str()), (StatusCode::SERVICE_UNAVAILABLE, ""));
    let retry_after: u64 = deferred.headers()["retry-after"].to_str().unwrap().parse().unwrap();
    // The first window is 5 s with its jitter of 20 %, and the spread is as much again.
    assert!((1..=8).contains(&retry_after), "{retry_after}");
}

#[test]
fn a_response_that_takes_too_long_is_answered_as_a_timeout() {
    let breaker = touchy().timeout(20 * MS);
    due(&breaker);
    let hang = |_: Request<()>| pending::<Result<Response<String>, std::io::Error>>();
    let mut service = BreakerLayer::http(breaker.clone()).layer(service(hang));
    let response = block_on(service.call(Request::new(()))).unwrap();
    assert_eq!(response.status(), StatusCode::GATEWAY_TIMEOUT);
    assert_eq!(breaker.history(1).unwrap()[0].reason, TransitionReason::ProbeTimedOut);
}

#[test]
fn a_future_that_is_dropped_gives_its_lease_back() {
    let breaker = touchy();
    due(&breaker);
    let mut service = BreakerLayer::new(breaker.clone()).layer(service(|()| pending::<Result<(), ()>>()));
    let call = service.call(());
    let cancel = async {
        while breaker.inspect().unwrap().leases.is_empty() {
            futures_lite::future::yield_now().await;
        }
        Ok(())
    };
    assert_eq!(block_on(or(cancel, call)), Ok(()));
    wait_until("the release", || breaker.inspect().unwrap().leases.is_empty());
    let inspection = breaker.inspect().unwrap();
    assert_eq!((inspection.state, inspection.probe_due), (State::HalfOpen, true));
}

#[test]
fn a_future_that_is_never_polled_acquires_nothing() {
    let breaker = touchy();
    due(&breaker);
    let mut service = BreakerLayer::new(breaker.clone()).layer(service(|()| ready(Ok::<_, ()>(()))));
    drop(service.call(()));
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
}

#[test]
fn a_panic_of_the_service_is_a_failure() {
    let breaker = touchy();
    let bang = |()| -> Ready<Result<(), ()>> { std::panic::resume_unwind(Box::new("bang")) };
    let mut service = BreakerLayer::new(breaker.clone()).layer(service(bang));
    let mut call = Box::pin(service.call(()));
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| block_on(call.as_mut())));
    assert!(panicked.is_err());
    // Also while the future itself is still there, as with a layer that catches panics.
    wait_until("the report", || breaker.inspect().unwrap().state == State::Open);
    drop(call);
}

#[test]
fn a_service_that_does_not_get_ready_is_a_failure() {
    let breaker = touchy();
    let polled = Arc::new(AtomicU32::new(0));
    let counted = polled.clone();
    let not_ready = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Err("no connection"))
    };
    let call = |()| -> Ready<Result<(), &str>> { panic!("called before it was ready") };
    let mut service = BreakerLayer::new(breaker).layer(Fake { ready: not_ready, call });
    let mut cx = Context::from_waker(Waker::noop());
    assert_eq!(service.poll_ready(&mut cx), Poll::Ready(Ok(())));
    assert_eq!(block_on(service.call(())), Err(CallError::Failed("no connection")));
    assert!(matches!(block_on(service.call(())), Err(CallError::Deferred(_))));
    assert_eq!(polled.load(Ordering::Relaxed), 1);
}

#[test]
fn a_probe_that_outlasts_its_lease_keeps_it_while_it_runs() {
    let breaker = breaker(Policy::new().lease_ms(300).fresh_ms(0));
    due(&breaker);
    let slow = |()| async {
        futures_timer::Delay::new(1_000 * MS).await;
        Ok::<_, ()>(())
    };
    let mut service = BreakerLayer::new(breaker.clone()).layer(service(slow));
    let rival = breaker.clone();
    let mut call = pin!(service.call(()));
    let watch = async {
        loop {
            if !rival.inspect().unwrap().leases.is_empty() {
                assert!(matches!(rival.acquire(), Ok(Decision::Defer(_))), "another probe was let through");
            }
            futures_timer::Delay::new(10 * MS).await;
        }
    };
    assert_eq!(block_on(or(call.as_mut(), watch)), Ok(()));
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
}
