use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::store::{MemoryStore, Store};
use crate::tests::{Request, Watched, down};
use crate::{
    Breaker, BreakerError, CallError, Decision, DeferReason, EffectivePolicy, Host, ManualClock, Mode, OnStoreError,
    OpenError, Outcome, Policy, PolicyOrigin, Report, State, TransitionReason, Verdict,
};

const MS: Duration = Duration::from_millis(1);

fn host() -> (Host, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new(1_000_000));
    (Host::builder().clock(clock.clone()).seed(1).build().unwrap(), clock)
}

fn trip(breaker: &Breaker) {
    for _ in 0..5 {
        match breaker.acquire().unwrap() {
            Decision::Proceed(guard) => assert!(guard.failure().unwrap().is_applied()),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
}

fn probe(breaker: &Breaker) -> crate::PermitGuard {
    match breaker.acquire().unwrap() {
        Decision::Probe(guard) => guard,
        other => panic!("no probe: {other:?}"),
    }
}

fn deferred(breaker: &Breaker) -> crate::Deferral {
    match breaker.acquire().unwrap() {
        Decision::Defer(deferral) => deferral,
        other => panic!("not deferred: {other:?}"),
    }
}

#[test]
fn a_breaker_trips_lets_one_probe_through_and_closes() {
    let (host, clock) = host();
    let breaker = host.breaker("payments");
    trip(&breaker);
    assert_eq!(deferred(&breaker).reason, DeferReason::Open);
    clock.advance(6_000 * MS);
    let guard = probe(&breaker);
    assert_eq!(guard.expires_in(), Some(5_000 * MS));
    assert_eq!(deferred(&breaker).reason, DeferReason::Probing);
    let recorded = guard.success().unwrap();
    let receipt = recorded.receipt().unwrap();
    assert_eq!((receipt.verdict.clone(), receipt.state), (Verdict::Applied, State::Closed));
    let reasons: Vec<_> = breaker.history(10).unwrap().into_iter().map(|transition| transition.reason).collect();
    let wanted = [TransitionReason::ConsecutiveFailures, TransitionReason::ProbeDue, TransitionReason::ProbeSucceeded];
    assert_eq!(reasons, wanted);
    assert_eq!(host.list().unwrap(), ["payments"]);
}

#[test]
fn a_dropped_probe_is_given_back_or_after_a_panic_a_failure() {
    let (host, clock) = host();
    let breaker = host.breaker("payments");
    trip(&breaker);
    clock.advance(6_000 * MS);
    drop(probe(&breaker));
    let guard = probe(&breaker);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let _guard = guard;
        std::panic::resume_unwind(Box::new("the call panicked"));
    }));
    assert!(panicked.is_err());
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
    assert_eq!(breaker.history(1).unwrap()[0].reason, TransitionReason::ProbeFailed);
}

#[test]
fn a_permit_as_data_is_reported_by_its_holder() {
    let (host, clock) = host();
    let breaker = host.breaker("payments");
    trip(&breaker);
    clock.advance(6_000 * MS);
    let permit = probe(&breaker).into_permit();
    assert_eq!(deferred(&breaker).reason, DeferReason::Probing, "dropping the data gave the lease back");
    let text = permit.to_string();
    assert!(breaker.report(text.parse().unwrap(), Outcome::Success).unwrap().is_applied());
    let again = breaker.report(permit, Outcome::Success).unwrap();
    assert_eq!(again.verdict, Verdict::Stale(crate::StaleReason::AlreadyReported));
}

#[test]
fn a_probe_that_arrives_after_the_end_of_its_lease_is_lost() {
    let clock = Arc::new(ManualClock::new(1_000_000));
    let passing = clock.clone();
    // Its commits take longer than the lease.
    let store = Watched::with(move |request| {
        if let Request::Commit(_) = request {
            passing.advance(5_000 * MS);
        }
        Ok(())
    });
    let host = Host::builder().clock(clock.clone()).store(store).build().unwrap();
    let breaker = host.breaker("payments");
    breaker.force(Mode::Open, Some(MS), "").unwrap();
    let error = breaker.acquire().unwrap_err();
    assert!(error.to_string().contains("lease_ms"), "{error}");
}

#[test]
fn namespaces_see_nothing_of_each_other() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let open = |namespace: &str| Host::builder().shared_store(store.clone()).namespace(namespace).build().unwrap();
    let (one, two) = (open("a"), open("a:b"));
    one.breaker("b:c").force(Mode::Open, None, "").unwrap();
    assert_eq!(two.breaker("c").inspect().unwrap().state, State::Closed);
    assert_eq!(two.list().unwrap(), Vec::<String>::new());
    one.remove_namespace().unwrap();
    assert_eq!(one.breaker("b:c").inspect().unwrap().state, State::Closed);
}

#[test]
fn bad_input_is_named_and_changes_nothing() {
    let (host, _) = host();
    for name in ["", "a\nb", &"x".repeat(257)] {
        let error = host.breaker(name).acquire().unwrap_err();
        assert!(matches!(error, BreakerError::InvalidDependency { .. }), "{name:?}: {error}");
    }
    let breaker = host.breaker("a");
    let policy = Policy::new().open_ms(0).lease_ms(u64::MAX);
    match breaker.configure(&policy, "").unwrap_err() {
        BreakerError::InvalidPolicy(faults) => {
            let fields: Vec<_> = faults.iter().map(|fault| fault.field.as_str()).collect();
            assert_eq!(fields, ["open_ms", "lease_ms"]);
        }
        other => panic!("{other}"),
    }
    assert!(matches!(Host::builder().default_policy(policy).build(), Err(OpenError::InvalidPolicy(_))));
    assert_eq!(host.list().unwrap(), Vec::<String>::new());
}

#[test]
fn a_call_reports_its_outcome() {
    let (host, clock) = host();
    let breaker = host.breaker("payments");
    assert_eq!(breaker.call(|| Ok::<_, ()>(7)), Ok(7));
    assert_eq!(breaker.call(|| Err::<(), _>("down")), Err(CallError::Failed("down")));
    assert_eq!(breaker.inspect().unwrap().failures_in_row, 1);
    let ignored = breaker.call_with(|_| Outcome::Ignored, || Err::<(), _>("my own mistake"));
    assert_eq!(ignored, Err(CallError::Failed("my own mistake")));
    assert_eq!(breaker.inspect().unwrap().failures_in_row, 1);
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        breaker.call(|| -> Result<(), ()> { std::panic::resume_unwind(Box::new("bang")) })
    }));
    assert!(panicked.is_err());
    assert_eq!(breaker.inspect().unwrap().failures_in_row, 2);
    let slow = breaker.clone().timeout(100 * MS);
    let result = slow.call(|| {
        clock.advance(100 * MS);
        Ok::<_, ()>("late")
    });
    assert_eq!(result, Ok("late"), "its result is not withheld");
    assert_eq!(breaker.inspect().unwrap().failures_in_row, 3);
    breaker.force(Mode::Open, None, "").unwrap();
    let called = AtomicBool::new(false);
    let result = breaker.call(|| {
        called.store(true, Ordering::SeqCst);
        Ok::<_, ()>(())
    });
    assert!(matches!(result, Err(CallError::Deferred(_))));
    assert!(!called.load(Ordering::SeqCst), "a deferred caller made its call");
}

#[test]
fn failures_carry_their_caller_and_cause() {
    let (host, _) = host();
    let breaker = host.breaker("payments").caller("worker 7");
    let _ = breaker.call(|| Ok::<_, ()>(()));
    let _ = breaker.call(|| Err::<(), _>("down"));
    let last = |breaker: &Breaker| {
        let last = breaker.inspect().unwrap().last_failure.unwrap();
        (last.caller, last.cause)
    };
    assert_eq!(last(&breaker), ("worker 7".to_owned(), String::new()));
    let Decision::Proceed(guard) = breaker.acquire().unwrap() else { panic!("not admitted") };
    guard.report(Report::new(Outcome::Timeout).caller("proxy").cause("no answer")).unwrap();
    assert_eq!(last(&breaker), ("proxy".to_owned(), "no answer".to_owned()));
    for _ in 0..3 {
        let _ = breaker.call(|| Err::<(), _>("down"));
    }
    assert_eq!(breaker.history(1).unwrap()[0].caller, "worker 7");
}

#[test]
fn an_operators_act_carries_its_operator_and_note() {
    let (host, _) = host();
    let breaker = host.breaker("payments").operator("ann");
    breaker.force(Mode::Open, None, "maintenance").unwrap();
    let forced = breaker.inspect().unwrap().forced.unwrap();
    assert_eq!((forced.by.as_str(), forced.note.as_str()), ("ann", "maintenance"));
    breaker.configure(&Policy::new().open_ms(7), "shorter").unwrap();
    assert_eq!(breaker.policy().unwrap().origin, PolicyOrigin::Dependency);
    breaker.unset_policy("as before").unwrap();
    assert_eq!(
        breaker.policy().unwrap(),
        EffectivePolicy { policy: host.default_policy(), origin: PolicyOrigin::Host }
    );
    let notes: Vec<_> = breaker.history(10).unwrap().into_iter().map(|change| (change.by, change.note)).collect();
    let wanted = ["maintenance", "shorter", "as before"].map(|note| ("ann".to_owned(), note.to_owned()));
    assert_eq!(notes, wanted);
}

/// A host on a store that fails while the flag is set.
fn failing(choice: OnStoreError) -> (Host, Arc<AtomicBool>, Arc<ManualClock>) {
    let (fails, clock) = (Arc::new(AtomicBool::new(false)), Arc::new(ManualClock::new(1_000_000)));
    let failing = fails.clone();
    let store = Watched::with(move |_| if failing.load(Ordering::SeqCst) { Err(down()) } else { Ok(()) });
    let host = Host::builder().store(store).clock(clock.clone()).on_store_error(choice).build().unwrap();
    (host, fails, clock)
}

#[test]
fn while_the_store_fails_acquires_go_by_on_store_error() {
    let (host, fails, _) = failing(OnStoreError::FailClosed);
    fails.store(true, Ordering::SeqCst);
    assert!(matches!(host.breaker("a").acquire(), Err(BreakerError::Store(_))));
    assert!(matches!(host.breaker("a").call(|| Ok::<_, ()>(())), Err(CallError::Breaker(BreakerError::Store(_)))));

    let (host, fails, _) = failing(OnStoreError::FailOpen);
    fails.store(true, Ordering::SeqCst);
    match host.breaker("a").acquire().unwrap() {
        Decision::Proceed(guard) => {
            assert!(guard.unrecorded().is_some(), "it is not visible");
            assert!(matches!(guard.success(), Err(BreakerError::Store(_))));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(host.breaker("a").call(|| Ok::<_, ()>(3)), Ok(3));
    assert!(matches!(host.breaker("a").inspect(), Err(BreakerError::Store(_))), "only acquire falls back");

    let (host, fails, clock) = failing(OnStoreError::LastKnown);
    let (open, closed) = (host.breaker("open"), host.breaker("closed"));
    open.force(Mode::Open, None, "").unwrap();
    let left = deferred(&open).retry_after;
    assert!(closed.acquire().is_ok());
    fails.store(true, Ordering::SeqCst);
    // Beyond what is answered from memory anyhow.
    clock.advance(300 * MS);
    assert_eq!(deferred(&open).retry_after, left - 300);
    assert!(matches!(closed.acquire(), Ok(Decision::Proceed(guard)) if guard.unrecorded().is_some()));
    assert!(host.breaker("unknown").acquire().is_err());
}

#[test]
fn a_store_error_never_masks_the_outcome_of_the_call() {
    let (host, fails, _) = failing(OnStoreError::FailClosed);
    let result = host.breaker("a").call(|| {
        fails.store(true, Ordering::SeqCst);
        Err::<(), _>("its own error")
    });
    assert_eq!(result, Err(CallError::Failed("its own error")));
}

#[test]
fn the_stream_shows_transitions_from_now_on_of_all_dependencies() {
    let (host, _) = host();
    host.breaker("before").force(Mode::Open, None, "").unwrap();
    let mut stream = host.transitions();
    assert_eq!(stream.next_timeout(Duration::ZERO), Ok(None));
    host.breaker("b").force(Mode::Open, None, "").unwrap();
    host.breaker("a").force(Mode::Closed, None, "").unwrap();
    let seen: Vec<_> = stream.by_ref().take(2).map(|observed| observed.unwrap().dependency).collect();
    assert_eq!(seen, ["b", "a"]);
    assert_eq!(stream.next_timeout(MS), Ok(None));
}

#[test]
fn a_stream_that_the_store_fails_goes_on_from_its_position() {
    let (host, fails, _) = failing(OnStoreError::FailClosed);
    let mut stream = host.transitions();
    host.breaker("a").force(Mode::Open, None, "").unwrap();
    fails.store(true, Ordering::SeqCst);
    assert!(stream.next_timeout(MS).is_err());
    fails.store(false, Ordering::SeqCst);
    assert_eq!(stream.next_timeout(MS).unwrap().unwrap().dependency, "a");
}

#[test]
fn one_seed_gives_one_history() {
    let run = |seed| {
        let clock = Arc::new(ManualClock::new(1_000_000));
        let host = Host::builder().clock(clock).seed(seed).build().unwrap();
        trip(&host.breaker("a"));
        host.breaker("a").inspect().unwrap().next_due
    };
    assert_eq!(run(7), run(7));
    assert!((0..20).any(|seed| run(seed) != run(7)), "the seed changes nothing");
}
