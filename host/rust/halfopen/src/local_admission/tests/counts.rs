//! Successes that are counted in memory, and their way to the store.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::Outcome;
use crate::Recorded;
use crate::tests::{Request, down};

#[test]
fn a_failure_is_reported_at_once_with_the_successes_before_it() {
    let machine = Machine::new(plain());
    let breaker = machine.process().breaker("a");
    (0..7).for_each(|_| succeed(&breaker));
    machine.store.since();
    fail(&breaker);
    assert_eq!(machine.store.since(), (1, 1));
    assert_eq!(counted(&machine), (8, 1));
    let inspection = breaker.inspect().unwrap();
    assert_eq!(inspection.failures_in_row, 1, "the successes came first");
}

#[test]
fn the_last_handle_flushes_whichever_it_is() {
    let machine = Machine::new(plain());
    let host = machine.process();
    let breaker = host.breaker("a");
    succeed(&breaker);
    drop(host);
    succeed(&breaker);
    let guard = admitted(&breaker);
    drop(breaker);
    assert_eq!(counted(&machine), (0, 0), "the permit is a handle too");
    assert_eq!(guard.success().unwrap(), Recorded::Later);
    assert_eq!(counted(&machine), (3, 0));
}

#[test]
fn on_the_machines_clock_a_thread_flushes_when_no_call_comes() {
    let store: Arc<Watched> = Arc::default();
    let open = || Host::builder().shared_store(store.clone()).build().unwrap();
    let (host, other) = (open(), open());
    let (breaker, other) = (host.breaker("a"), other.breaker("a"));
    succeed(&breaker);
    // However long it takes: what is asserted is that it comes.
    while other.inspect().unwrap().calls == 0 {
        std::thread::sleep(MS);
    }
    succeed(&breaker);
    drop((breaker, host));
    assert_eq!(other.inspect().unwrap().calls, 2);
}

#[test]
fn slow_successes_are_counted_as_slow() {
    let machine = Machine::new(plain().slow_calls(100, 100, 1_000));
    let breaker = machine.process().breaker("a");
    succeed(&breaker);
    for took in [99, 100, 101] {
        let slow = || {
            machine.advance(took);
            Ok::<_, ()>(())
        };
        breaker.call(slow).unwrap();
    }
    let guard = admitted(&breaker);
    machine.advance(150);
    guard.success().unwrap();
    assert_eq!(breaker.inspect().unwrap().slow, 3);
}

#[test]
fn outcomes_that_the_store_does_not_take_are_reported_later() {
    let fails = Arc::new(AtomicBool::new(false));
    let failing = fails.clone();
    let store = Arc::new(Watched::with(move |request| match request {
        Request::Commit(_) if failing.load(SeqCst) => Err(down()),
        _ => Ok(()),
    }));
    let clock = Arc::new(ManualClock::new(1_000));
    let host = Host::builder().shared_store(store.clone()).clock(clock.clone()).build().unwrap();
    let breaker = host.breaker("a");
    (0..3).for_each(|_| succeed(&breaker));
    fails.store(true, SeqCst);
    assert_eq!(admitted(&breaker).failure(), Ok(Recorded::Later));
    clock.advance(250 * MS);
    succeed(&breaker);
    fails.store(false, SeqCst);
    let inspection = breaker.inspect().unwrap();
    assert_eq!((inspection.calls, inspection.failures), (5, 1));
}

#[test]
fn a_panic_is_a_failure_and_an_ignored_call_nothing() {
    let machine = Machine::new(plain());
    let breaker = machine.process().breaker("a");
    succeed(&breaker);
    let call = || breaker.call(|| -> Result<(), ()> { std::panic::resume_unwind(Box::new("the call panicked")) });
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err());
    breaker.call_with(|_| Outcome::Ignored, || Ok::<_, ()>(())).unwrap();
    assert_eq!(admitted(&breaker).ignore().unwrap(), Recorded::Nothing);
    drop(admitted(&breaker));
    assert_eq!(counted(&machine), (2, 1));
}
