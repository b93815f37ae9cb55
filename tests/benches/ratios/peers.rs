//! The in-process breakers that ours is measured against, each as it comes: trip at half of the calls failing.

use std::future::{Future, Ready, ready};
use std::hint::black_box;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use failsafe::CircuitBreaker as _;
use recloser::Recloser;
use tower_resilience_circuitbreaker::{CircuitBreaker, CircuitBreakerLayer, DefaultClassifier};
use tower_service::Service;

/// How long those that are open stay so: longer than any run.
pub const OPEN: Duration = Duration::from_secs(1 << 20);

/// What is called through each of them.
#[inline]
pub fn work(up: bool) -> Result<u64, ()> {
    if black_box(up) { Ok(black_box(1)) } else { Err(()) }
}

pub fn recloser() -> Recloser {
    Recloser::custom().error_rate(0.5).closed_len(100).open_wait(OPEN).build()
}

/// One call; whether it was made and succeeded.
pub fn through_recloser(breaker: &Recloser, up: bool) -> bool {
    breaker.call(|| work(up)).is_ok()
}

pub type Failsafe = failsafe::StateMachine<
    failsafe::failure_policy::OrElse<
        failsafe::failure_policy::SuccessRateOverTimeWindow<failsafe::backoff::Constant>,
        failsafe::failure_policy::ConsecutiveFailures<failsafe::backoff::Constant>,
    >,
    (),
>;

pub fn failsafe() -> Failsafe {
    use failsafe::failure_policy::{FailurePolicy as _, consecutive_failures, success_rate_over_time_window};
    let backoff = || failsafe::backoff::constant(OPEN);
    let rate = success_rate_over_time_window(0.5, 20, Duration::from_secs(30), backoff());
    failsafe::Config::new().failure_policy(rate.or_else(consecutive_failures(5, backoff()))).build()
}

pub fn through_failsafe(breaker: &Failsafe, up: bool) -> bool {
    breaker.call(|| work(up)).is_ok()
}

/// A service whose response is there at once.
#[derive(Clone)]
pub struct Worker;

impl Service<bool> for Worker {
    type Response = u64;
    type Error = ();
    type Future = Ready<Result<u64, ()>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, up: bool) -> Self::Future {
        ready(work(up))
    }
}

pub type Tower = CircuitBreaker<Worker, DefaultClassifier>;

pub fn tower() -> crate::setting::Result<Tower> {
    let layer =
        CircuitBreakerLayer::builder().failure_rate_threshold(0.5).sliding_window_size(100).wait_duration_in_open(OPEN);
    Ok(layer.build()?.layer_fn(Worker))
}

pub fn through_tower(service: &mut Tower, up: bool) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    if !matches!(service.poll_ready(&mut cx), Poll::Ready(Ok(()))) {
        return false;
    }
    let mut call = service.call(up);
    // Nobody else holds its lock, so that it has nothing to wait for.
    matches!(Pin::new(&mut call).poll(&mut cx), Poll::Ready(Ok(_)))
}
