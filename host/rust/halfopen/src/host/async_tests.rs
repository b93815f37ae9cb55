//! Async code, and the leases of probes that take long.

use std::future::pending;
use std::time::{Duration, Instant};

use futures_lite::StreamExt;
use futures_lite::future::{block_on, or, yield_now};

use crate::{Breaker, CallError, Decision, Host, LeaseKeeper, Mode, Outcome, Policy, State, TransitionReason};

const MS: Duration = Duration::from_millis(1);

fn host(policy: Policy) -> Host {
    Host::builder().default_policy(policy).build().unwrap()
}

/// Open, with a probe due.
fn due(breaker: &Breaker) {
    breaker.force(Mode::Open, None, "").unwrap();
    breaker.force(Mode::None, None, "").unwrap();
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < 20_000 * MS, "{what} has not come");
        std::thread::sleep(5 * MS);
    }
}

#[test]
fn an_async_call_reports_its_outcome() {
    let host = host(Policy::new());
    let breaker = host.breaker("a");
    block_on(async {
        assert_eq!(breaker.call_async(async || Ok::<_, ()>(7)).await, Ok(7));
        assert_eq!(breaker.call_async(async || Err::<(), _>("down")).await, Err(CallError::Failed("down")));
    });
    assert_eq!(breaker.inspect().unwrap().failures_in_row, 1);
    due(&breaker);
    assert_eq!(block_on(breaker.call_async(async || Ok::<_, ()>(8))), Ok(8));
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
    breaker.force(Mode::Open, None, "").unwrap();
    let deferred =
        block_on(breaker.call_async(async || -> Result<(), ()> { panic!("a deferred caller made its call") }));
    assert!(matches!(deferred, Err(CallError::Deferred(_))));
}

#[test]
fn an_async_call_at_its_limit_is_cut_off_as_a_timeout() {
    struct CutOff<'a>(&'a std::cell::Cell<bool>);
    impl Drop for CutOff<'_> {
        fn drop(&mut self) {
            self.0.set(true);
        }
    }
    let host = host(Policy::new());
    let breaker = host.breaker("a").timeout(20 * MS);
    due(&breaker);
    let cut = std::cell::Cell::new(false);
    let result = block_on(breaker.call_async(|| async {
        let _cut = CutOff(&cut);
        pending::<Result<(), ()>>().await
    }));
    assert_eq!(result, Err(CallError::TimedOut(20 * MS)));
    assert!(cut.get());
    assert_eq!(breaker.history(1).unwrap()[0].reason, TransitionReason::ProbeTimedOut);
}

#[test]
fn an_async_call_that_is_dropped_from_outside_is_ignored() {
    let host = host(Policy::new());
    let breaker = host.breaker("a");
    due(&breaker);
    let call = async { Some(breaker.call_async(pending::<Result<(), ()>>).await) };
    let outside = async {
        while breaker.inspect().unwrap().leases.is_empty() {
            yield_now().await;
        }
        None
    };
    assert_eq!(block_on(or(call, outside)), None);
    wait_until("the release", || breaker.inspect().unwrap().leases.is_empty());
    let inspection = breaker.inspect().unwrap();
    assert_eq!((inspection.state, inspection.probe_due), (State::HalfOpen, true));
}

#[test]
fn an_async_call_that_panics_is_a_failure() {
    let host = host(Policy::new());
    let breaker = host.breaker("a");
    due(&breaker);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        block_on(breaker.call_async(async || -> Result<(), ()> { std::panic::resume_unwind(Box::new("bang")) }))
    }));
    assert!(panicked.is_err());
    wait_until("the report", || breaker.inspect().unwrap().state == State::Open);
}

#[test]
fn an_async_call_may_move_between_threads() {
    fn is_send<T: Send>(future: T) -> T {
        future
    }
    let breaker = host(Policy::new()).breaker("a").timeout(60_000 * MS);
    let future = is_send(breaker.call_async(async || Ok::<_, ()>(1)));
    assert_eq!(block_on(future), Ok(1));
}

#[test]
fn a_probe_that_outlasts_its_lease_keeps_it_while_it_runs() {
    let host = host(Policy::new().lease_ms(1_200));
    let breaker = host.breaker("a");
    due(&breaker);
    let result = breaker.call(|| {
        let until = Instant::now() + 2_500 * MS;
        while Instant::now() < until {
            assert!(matches!(breaker.acquire(), Ok(Decision::Defer(_))), "another probe was let through");
            std::thread::sleep(10 * MS);
        }
        Ok::<_, ()>(())
    });
    assert_eq!(result, Ok(()));
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
}

#[test]
fn a_lease_that_the_policy_has_shortened_is_kept_as_well() {
    let host = host(Policy::new().lease_ms(4_000));
    let breaker = host.breaker("a");
    due(&breaker);
    let result = breaker.call(|| {
        breaker.configure(&Policy::new().lease_ms(1_200), "").unwrap();
        let until = Instant::now() + 5_500 * MS;
        while Instant::now() < until {
            assert!(matches!(breaker.acquire(), Ok(Decision::Defer(_))), "another probe was let through");
            std::thread::sleep(10 * MS);
        }
        Ok::<_, ()>(())
    });
    assert_eq!(result, Ok(()));
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
}

#[test]
fn the_loss_of_a_lease_is_signalled_once() {
    let host = host(Policy::new().lease_ms(150));
    let breaker = host.breaker("a");
    due(&breaker);
    let Decision::Probe(guard) = breaker.acquire().unwrap() else { panic!("no probe") };
    let (sender, lost) = std::sync::mpsc::channel();
    let on_lost = move |reason: &crate::StaleReason| sender.send(reason.clone()).unwrap();
    let keeper = LeaseKeeper::start_with(&breaker, guard.permit(), 150 * MS, on_lost);
    breaker.reset("").unwrap();
    let reason = lost.recv_timeout(20_000 * MS).unwrap();
    assert_eq!(keeper.lost(), Some(reason));
    assert!(lost.recv().is_err(), "it was signalled twice");
    assert!(!guard.success().unwrap().is_applied());
}

#[test]
fn a_keeper_that_is_dropped_renews_no_more() {
    let host = host(Policy::new().lease_ms(100));
    let breaker = host.breaker("a");
    due(&breaker);
    let Decision::Probe(guard) = breaker.acquire().unwrap() else { panic!("no probe") };
    drop(guard.keep_alive());
    wait_until("the end of the lease", || breaker.inspect().unwrap().leases.is_empty());
    drop(guard);
}

#[test]
fn a_report_is_made_even_if_its_future_is_dropped() {
    let host = host(Policy::new());
    let breaker = host.breaker("a");
    due(&breaker);
    block_on(async {
        let Decision::Probe(guard) = breaker.acquire_async().await.unwrap() else { panic!("no probe") };
        let report = async { Some(guard.report_async(Outcome::Success).await) };
        or(report, async { None }).await;
    });
    wait_until("the report", || breaker.inspect().unwrap().state == State::Closed);
}

#[test]
fn the_stream_wakes_async_readers() {
    let host = host(Policy::new());
    let mut stream = host.transitions();
    let writer = host.breaker("a");
    let thread = std::thread::spawn(move || {
        std::thread::sleep(20 * MS);
        writer.force(Mode::Open, None, "").unwrap();
    });
    // `Transitions` iterates as well, so that the trait is named.
    let observed = block_on(StreamExt::next(&mut stream)).unwrap().unwrap();
    assert_eq!((observed.dependency.as_str(), observed.transition.to), ("a", State::Open));
    thread.join().unwrap();
}
