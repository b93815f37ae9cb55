//! Acquires and operators during an outage.

use std::time::{Duration, Instant};

use halfopen::{BreakerError, CallError, Decision, Mode, OnStoreError, PolicyOrigin, StoreError};
use halfopen_tests::breakers::{policy, until};

use crate::scene::{Scene, Way};

/// A store gives up after 2 s. If each of `MANY` acquires waited for that, they would take more than this.
const MANY: usize = 40;
const BOUND: Duration = Duration::from_secs(60);

pub fn an_acquire_is_answered_in_time_and_the_host_comes_back(way: &Way) {
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

pub fn many_threads_at_once_are_all_answered_in_bounded_time(way: &Way) {
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

pub fn the_last_known_deferral_holds_for_the_rest_of_it(way: &Way) {
    let scene = Scene::new(way);
    let builder = scene.builder(&policy().open_ms(600_000).open_max_ms(600_000));
    let host = builder.on_store_error(OnStoreError::LastKnown).build().unwrap();
    let (open, closed) = (host.breaker("open"), host.breaker("closed"));
    assert_eq!(open.call(|| Err::<(), _>("down")), Err(CallError::Failed("down")));
    assert!(matches!(open.acquire(), Ok(Decision::Defer(_))));
    assert!(matches!(closed.acquire(), Ok(Decision::Proceed(_))));

    scene.cut();
    match open.acquire() {
        Ok(Decision::Defer(deferral)) => assert!((1..=600_000).contains(&deferral.retry_after), "{deferral:?}"),
        other => panic!("{other:?}"),
    }
    assert!(matches!(closed.acquire(), Ok(Decision::Proceed(guard)) if guard.unrecorded().is_some()));
    assert!(matches!(host.breaker("new").acquire(), Err(BreakerError::Store(_))));
}

pub fn a_host_that_starts_in_an_outage_comes_up_by_itself(way: &Way) {
    let scene = Scene::new(way);
    scene.cut();
    if matches!(way, Way::Moved) {
        assert!(scene.builder(&policy()).build().is_err(), "a host that fails closed does not start");
    }
    let host = scene.builder(&policy()).on_store_error(OnStoreError::FailOpen).build().unwrap();
    let breaker = host.breaker("pay");
    assert!(matches!(breaker.acquire(), Ok(Decision::Proceed(guard)) if guard.unrecorded().is_some()));
    assert!(host.store_error().is_some());
    scene.mend();
    until("the host is back", || {
        matches!(breaker.acquire(), Ok(Decision::Proceed(guard)) if guard.unrecorded().is_none()).then_some(())
    });
    assert_eq!(host.store_error(), None);
}

pub fn an_operators_act_fails_and_has_no_effect_later(way: &Way) {
    let scene = Scene::new(way);
    let breaker = scene.breaker(&policy());
    assert!(breaker.acquire().is_ok());
    scene.cut();
    // Also once the outage is known.
    assert!(breaker.acquire().is_err());
    assert!(matches!(breaker.force(Mode::Open, None, "by hand"), Err(BreakerError::Store(_))));
    assert!(matches!(breaker.reset(""), Err(BreakerError::Store(_))));
    assert!(matches!(breaker.configure(&policy().probes(2), ""), Err(BreakerError::Store(_))));
    assert!(matches!(breaker.inspect(), Err(BreakerError::Store(_))));
    scene.mend();
    // An operator's act goes to the store each time, so it need not wait for an acquire.
    let seen = until("the store answers", || breaker.inspect().ok());
    assert!(seen.forced.is_none() && breaker.history(10).unwrap().is_empty(), "{seen:?}");
    assert!(matches!(breaker.acquire(), Ok(Decision::Proceed(_))));
    assert_eq!(breaker.policy().unwrap().origin, PolicyOrigin::Host);
}
