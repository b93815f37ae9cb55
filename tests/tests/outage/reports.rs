//! Outcomes of calls during an outage.

use std::time::Duration;

use halfopen::{BreakerError, CallError, Decision, Mode, Outcome, PermitGuard, Recorded, State, StoreError};
use halfopen_tests::breakers::{make_due, policy, until};
use halfopen_tests::proxy::Fate;

use crate::scene::{Scene, Way};

/// As short as leases may be on every store.
const LEASE_MS: u64 = 4_000;

fn admitted(breaker: &halfopen::Breaker) -> PermitGuard {
    match breaker.acquire() {
        Ok(Decision::Proceed(guard)) => guard,
        other => panic!("{other:?}"),
    }
}

fn probing(breaker: &halfopen::Breaker) -> PermitGuard {
    match breaker.acquire() {
        Ok(Decision::Probe(guard)) => guard,
        other => panic!("{other:?}"),
    }
}

pub fn a_failure_is_counted_after_the_outage_and_may_trip(way: &Way) {
    let scene = Scene::new(way);
    let breaker = scene.breaker(&policy());
    let guard = admitted(&breaker);
    scene.cut();
    assert_eq!(guard.failure(), Ok(Recorded::Later));
    scene.mend();
    let other = scene.other(&policy());
    until("the breaker has tripped", || (other.inspect().ok()?.state == State::Open).then_some(()));
    assert_eq!(other.history(10).unwrap().len(), 1);
}

pub fn outcomes_of_calls_from_memory_all_count_once(way: &Way) {
    let scene = Scene::new(way);
    let policy = policy().consecutive_failures(0).fresh_ms(3_600_000);
    let breaker = scene.breaker(&policy);
    assert_eq!(breaker.call(|| Ok::<_, ()>(1)), Ok(1));
    scene.cut();
    for _ in 0..5 {
        assert_eq!(breaker.call(|| Err::<(), _>("down")), Err(CallError::Failed("down")));
        assert_eq!(breaker.call(|| Ok::<_, ()>(2)), Ok(2));
    }
    scene.mend();
    let other = scene.other(&policy);
    until("the failures are counted", || (other.inspect().ok()?.failures == 5).then_some(()));
    // The successes since then are flushed by the last handle.
    drop(breaker);
    let seen = other.inspect().unwrap();
    assert_eq!((seen.calls, seen.failures, seen.failures_in_row), (11, 5, 0));
}

pub fn a_probes_success_closes_the_breaker_after_the_outage(way: &Way) {
    let scene = Scene::new(way);
    let breaker = scene.breaker(&policy());
    make_due(&breaker);
    let guard = probing(&breaker);
    scene.cut();
    assert_eq!(guard.success(), Ok(Recorded::Later));
    scene.mend();
    let other = scene.other(&policy());
    until("the breaker is closed", || (other.inspect().ok()?.state == State::Closed).then_some(()));
}

pub fn a_dropped_probe_gives_its_lease_back_after_the_outage(way: &Way) {
    let scene = Scene::new(way);
    let breaker = scene.breaker(&policy());
    make_due(&breaker);
    let guard = probing(&breaker);
    scene.cut();
    drop(guard);
    scene.mend();
    let other = scene.other(&policy());
    until("a probe is due", || other.inspect().ok()?.probe_due.then_some(()));
}

pub fn a_probes_result_after_the_end_of_its_lease_changes_nothing(way: &Way) {
    let scene = Scene::new(way);
    let policy = policy().lease_ms(LEASE_MS);
    let breaker = scene.breaker(&policy);
    make_due(&breaker);
    let guard = probing(&breaker);
    scene.cut();
    assert_eq!(guard.success(), Ok(Recorded::Later));
    std::thread::sleep(Duration::from_millis(LEASE_MS));
    scene.mend();
    let other = scene.other(&policy);
    let next = until("another probes", || match other.acquire() {
        Ok(Decision::Probe(guard)) => Some(guard),
        Ok(Decision::Defer(_)) | Err(_) => None,
        Ok(Decision::Proceed(_)) => panic!("the breaker is closed"),
    });
    // The last attempt is made by the last handle.
    drop(breaker);
    let seen = other.inspect().unwrap();
    assert_eq!((seen.state, seen.leases.len()), (State::HalfOpen, 1));
    assert!(next.success().unwrap().is_applied());
}

pub fn a_call_returns_its_own_result(way: &Way) {
    for policy in [policy(), policy().fresh_ms(3_600_000)] {
        let scene = Scene::new(way);
        let breaker = scene.breaker(&policy);
        let cut = || scene.cut();
        assert_eq!(
            breaker.call(|| Ok::<_, ()>({
                cut();
                7
            })),
            Ok(7)
        );
        scene.mend();
        until("it is back", || breaker.acquire().ok().map(drop));
        assert_eq!(
            breaker.call(|| {
                cut();
                Err::<(), _>("its own")
            }),
            Err(CallError::Failed("its own"))
        );
        scene.mend();
    }
}

pub fn a_host_that_closes_delivers_if_it_can_and_ends(way: &Way) {
    let scene = Scene::new(way);
    let breaker = scene.breaker(&policy());
    let guard = admitted(&breaker);
    scene.cut();
    assert_eq!(guard.failure(), Ok(Recorded::Later));
    // It ends, and the failure is lost.
    drop(breaker);
    scene.mend();
    let other = until("it is back", || scene.other(&policy()).inspect().is_ok().then(|| scene.other(&policy())));
    assert_eq!(other.inspect().unwrap().state, State::Closed);

    let breaker = scene.breaker(&policy());
    let guard = admitted(&breaker);
    scene.cut();
    assert_eq!(guard.failure(), Ok(Recorded::Later));
    scene.mend();
    drop(breaker);
    assert_eq!(other.inspect().unwrap().state, State::Open, "the last handle has delivered it");
}

pub fn a_plain_report_fails_and_is_left_to_its_caller(way: &Way) {
    let scene = Scene::new(way);
    let breaker = scene.breaker(&policy());
    let permit = admitted(&breaker).into_permit();
    scene.cut();
    assert!(matches!(breaker.report(permit, Outcome::Failure), Err(BreakerError::Store(_))));
    scene.mend();
    drop(breaker);
    let other = scene.other(&policy());
    assert_eq!(until("it is back", || other.inspect().ok()).state, State::Closed);
}

pub fn an_outcome_in_doubt_is_not_counted_twice(way: &Way) {
    let scene = Scene::new(way);
    let (breaker, other) = (scene.breaker(&policy()), scene.other(&policy()));
    // The note is in the record, whatever its format: the commit is known by it.
    breaker.force(Mode::Closed, None, &"n".repeat(80)).unwrap();
    let record = scene.record();
    let note = record.windows(40).find(|part| part.iter().all(|byte| *byte == part[0])).expect("the note");
    let guard = admitted(&breaker);
    let proxy = scene.proxy();
    scene.proxy().trap(note, Fate::AnswerLost, move || proxy.cut());
    let reported = guard.failure();
    assert!(matches!(reported, Err(BreakerError::Store(StoreError::InDoubt { .. }))), "{reported:?}");
    assert!(scene.proxy().is_sprung());
    assert_eq!(other.inspect().unwrap().failures, 1);
    scene.mend();
    until("it is back", || breaker.acquire().ok().map(drop));
    drop(breaker);
    assert_eq!(other.inspect().unwrap().failures, 1);
}
