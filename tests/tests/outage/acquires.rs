//! Who asks meanwhile.

use std::time::{Duration, Instant};

use halfopen::{BreakerError, CallError, Decision, Mode, OnStoreError, Policy, StoreError};
use halfopen_tests::breakers::{policy, until};

use crate::scene::{Scene, Way};

/// A store gives up after 2 s. If each of so many acquires waited for that, they would take more than this.
const MANY: usize = 40;
const BOUND: Duration = Duration::from_secs(60);

pub fn an_acquire_is_answered_in_bounded_time_as_chosen_and_the_host_comes_back_by_itself(way: &Way) {
    for choice in [OnStoreError::FailClosed, OnStoreError::FailOpen, OnStoreError::LastKnown] {
        let scene = Scene::new(way);
        let host = scene.builder(&policy()).on_store_error(choice).build().unwrap();
        let breaker = host.breaker("pay");
        assert!(matches!(breaker.acquire(), Ok(Decision::Proceed(guard)) if guard.unrecorded().is_none()));
        assert_eq!(host.store_error(), None);

        scene.cut();
        let started = Instant::now();
        for _ in 0..MANY {
            match (breaker.acquire(), choice) {
                (Err(BreakerError::Store(StoreError::Unavailable { .. })), OnStoreError::FailClosed) => {}
                (Ok(Decision::Proceed(guard)), OnStoreError::FailOpen | OnStoreError::LastKnown) => {
                    assert!(matches!(guard.unrecorded(), Some(StoreError::Unavailable { .. })));
                }
                (other, _) => panic!("{choice:?}: {other:?}"),
            }
        }
        assert!(started.elapsed() < BOUND, "{choice:?}: {:?}", started.elapsed());
        assert!(matches!(host.store_error(), Some(StoreError::Unavailable { .. })));

        scene.mend();
        until("the host is back", || match breaker.acquire() {
            Ok(Decision::Proceed(guard)) => guard.unrecorded().is_none().then_some(()),
            _ => None,
        });
        assert_eq!(host.store_error(), None);
    }
}

pub fn many_threads_that_ask_at_once_are_all_answered_in_bounded_time(way: &Way) {
    let scene = Scene::new(way);
    let breaker = scene.breaker(&policy());
    assert!(breaker.acquire().is_ok());
    scene.cut();
    assert!(breaker.acquire().is_err());
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..MANY {
            scope.spawn(|| {
                for _ in 0..MANY {
                    assert!(breaker.acquire().is_err());
                }
            });
        }
    });
    assert!(started.elapsed() < BOUND, "{:?}", started.elapsed());
}

pub fn what_was_last_known_of_an_open_breaker_holds_for_what_is_left_of_it(way: &Way) {
    let scene = Scene::new(way);
    let folder = tempfile::tempdir().unwrap();
    let known = folder.path().join("known");
    let host = || {
        let builder = scene.builder(&Policy { open_ms: 600_000, open_max_ms: 600_000, ..policy() });
        builder.on_store_error(OnStoreError::LastKnown).last_known_in(&known).build().unwrap()
    };
    let begun = host();
    let (first, closed) = (begun.breaker("open"), begun.breaker("closed"));
    assert_eq!(first.call(|| Err::<(), _>("down")), Err(CallError::Failed("down")));
    assert!(matches!(first.acquire(), Ok(Decision::Defer(_))));
    assert!(matches!(closed.acquire(), Ok(Decision::Proceed(_))));

    scene.cut();
    // This process, and one that starts meanwhile.
    for host in [begun, host()] {
        match host.breaker("open").acquire() {
            Ok(Decision::Defer(deferral)) => assert!((1..=600_000).contains(&deferral.retry_after), "{deferral:?}"),
            other => panic!("{other:?}"),
        }
        assert!(host.store_error().is_some());
        assert!(matches!(host.breaker("never asked").acquire(), Err(BreakerError::Store(_))));
    }
    let later = host();
    assert!(matches!(later.breaker("closed").acquire(), Ok(Decision::Proceed(guard)) if guard.unrecorded().is_some()));
    scene.mend();
    until("the one that was started meanwhile is back", || {
        matches!(later.breaker("never asked").acquire(), Ok(Decision::Proceed(guard)) if guard.unrecorded().is_none())
            .then_some(())
    });
}

pub fn what_operators_do_is_an_error_and_takes_no_effect_later(way: &Way) {
    let scene = Scene::new(way);
    let breaker = scene.breaker(&policy());
    assert!(breaker.acquire().is_ok());
    scene.cut();
    // Also once it is known that there is an outage.
    assert!(breaker.acquire().is_err());
    assert!(matches!(breaker.force(Mode::Open, None, "by hand"), Err(BreakerError::Store(_))));
    assert!(matches!(breaker.reset(), Err(BreakerError::Store(_))));
    assert!(matches!(breaker.configure(&Policy { probes: 2, ..policy() }), Err(BreakerError::Store(_))));
    assert!(matches!(breaker.inspect(), Err(BreakerError::Store(_))));
    scene.mend();
    // Control asks the store each time, so it need not wait for an acquire.
    let seen = until("the store answers", || breaker.inspect().ok());
    assert!(seen.forced.is_none() && breaker.history(10).unwrap().is_empty(), "{seen:?}");
    assert!(matches!(breaker.acquire(), Ok(Decision::Proceed(_))));
    assert_eq!(breaker.policy().unwrap().policy.probes, policy().probes);
}
