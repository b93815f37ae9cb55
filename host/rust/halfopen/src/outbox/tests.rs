//! Reports that a store does not take, or may have taken.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::SeqCst};
use std::time::Duration;

use crate::ManualClock;
use crate::store::{CommitOutcome, Cursor, Key, MemoryStore, Page, Snapshot, Store, StoreError, Write};
use crate::{Breaker, BreakerError, Decision, Host, HostBuilder, Outcome, PermitGuard, Recorded};
use crate::{Policy, State};

/// A store in one of three moods.
#[derive(Default)]
struct Flaky {
    inner: MemoryStore,
    mood: AtomicU8,
}

const FINE: u8 = 0;
/// It fails.
const DOWN: u8 = 1;
/// It commits, and its answer is lost.
const LOSES_ANSWERS: u8 = 2;

impl Flaky {
    fn is(&self, mood: u8) {
        self.mood.store(mood, SeqCst);
    }

    fn check(&self) -> Result<(), StoreError> {
        let (place, why) = ("test".to_owned(), "it is down".to_owned());
        if self.mood.load(SeqCst) == DOWN { Err(StoreError::Unavailable { place, why }) } else { Ok(()) }
    }
}

impl Store for Flaky {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.check()?;
        self.inner.load(key)
    }
    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.check()?;
        let outcomes = self.inner.commit(writes)?;
        match self.mood.load(SeqCst) {
            LOSES_ANSWERS => Err(StoreError::InDoubt { place: "test".to_owned(), why: "it is down".to_owned() }),
            _ => Ok(outcomes),
        }
    }
    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.inner.list(namespace)
    }
    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        self.inner.history(key, limit)
    }
    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.inner.transitions(namespace, after, limit)
    }
    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.inner.remove_namespace(namespace)
    }
}

fn on(builder: HostBuilder, store: &Arc<Flaky>) -> Breaker {
    let policy = Policy::new().consecutive_failures(2).jitter_percent(0).fresh_ms(0);
    builder.shared_store(store.clone()).default_policy(policy).build().unwrap().breaker("a")
}

/// A breaker on a clock that stands still, so that the next caller delivers.
fn standing() -> (Breaker, Arc<Flaky>, Arc<ManualClock>) {
    let (store, clock) = (Arc::<Flaky>::default(), Arc::new(ManualClock::new(1_000_000)));
    (on(Host::builder().clock(clock.clone()), &store), store, clock)
}

fn admitted(breaker: &Breaker) -> PermitGuard {
    match breaker.acquire().unwrap() {
        Decision::Proceed(guard) | Decision::Probe(guard) => guard,
        other => panic!("{other:?}"),
    }
}

fn probing(breaker: &Breaker, clock: &ManualClock) -> PermitGuard {
    for _ in 0..2 {
        admitted(breaker).failure().unwrap();
    }
    clock.advance(Duration::from_secs(5));
    let guard = admitted(breaker);
    assert!(guard.token().is_some());
    guard
}

#[test]
fn a_failure_that_was_kept_is_counted_once_and_trips() {
    let (breaker, store, _) = standing();
    let guards = [admitted(&breaker), admitted(&breaker)];
    store.is(DOWN);
    for guard in guards {
        assert_eq!(guard.failure(), Ok(Recorded::Later));
    }
    assert!(breaker.inspect().is_err());
    store.is(FINE);
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
    assert_eq!(breaker.history(10).unwrap().len(), 1);
}

#[test]
fn outcomes_keep_their_order() {
    let (breaker, store, _) = standing();
    let guards = [Outcome::Failure, Outcome::Success, Outcome::Failure].map(|outcome| (admitted(&breaker), outcome));
    store.is(DOWN);
    for (guard, outcome) in guards {
        assert_eq!(guard.report(outcome), Ok(Recorded::Later));
    }
    store.is(FINE);
    let seen = breaker.inspect().unwrap();
    assert_eq!((seen.state, seen.calls, seen.failures_in_row), (State::Closed, 3, 1));
}

#[test]
fn without_a_lease_a_report_in_doubt_is_not_repeated() {
    let (breaker, store, _) = standing();
    let guard = admitted(&breaker);
    store.is(LOSES_ANSWERS);
    assert!(matches!(guard.failure(), Err(BreakerError::Store(StoreError::InDoubt { .. }))));
    store.is(FINE);
    assert_eq!(breaker.inspect().unwrap().failures, 1);
}

#[test]
fn with_a_lease_a_report_in_doubt_is_repeated_and_counts_once() {
    let (breaker, store, clock) = standing();
    let guard = probing(&breaker, &clock);
    store.is(LOSES_ANSWERS);
    assert_eq!(guard.success(), Ok(Recorded::Later));
    store.is(FINE);
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
    let changes: Vec<_> = breaker.history(10).unwrap().into_iter().map(|change| change.to).collect();
    assert_eq!(changes, [State::Open, State::HalfOpen, State::Closed]);
}

#[test]
fn a_report_after_the_end_of_its_lease_is_stale_and_done() {
    let (breaker, store, clock) = standing();
    let guard = probing(&breaker, &clock);
    store.is(DOWN);
    assert_eq!(guard.success(), Ok(Recorded::Later));
    clock.advance(Duration::from_secs(5));
    store.is(FINE);
    assert_eq!(breaker.inspect().unwrap().state, State::HalfOpen);
    assert!(breaker.handle.inner.outbox.is_empty());
}

#[test]
fn an_ignored_call_is_not_kept() {
    let (breaker, store, _) = standing();
    let guard = admitted(&breaker);
    store.is(DOWN);
    assert_eq!(guard.ignore(), Ok(Recorded::Nothing));
    assert!(breaker.handle.inner.outbox.is_empty());
}

#[test]
fn on_a_clock_that_runs_a_thread_delivers() {
    let store = Arc::<Flaky>::default();
    let breaker = on(Host::builder(), &store);
    let guards = [admitted(&breaker), admitted(&breaker)];
    store.is(DOWN);
    for guard in guards {
        assert_eq!(guard.failure(), Ok(Recorded::Later));
    }
    let outbox = &breaker.handle.inner.outbox;
    store.is(FINE);
    while !outbox.is_empty() || outbox.reports_wait() {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
}

#[test]
fn the_last_handle_tries_once_more() {
    let store = Arc::<Flaky>::default();
    for mood in [FINE, DOWN] {
        let breaker = on(Host::builder(), &store);
        breaker.forget("").unwrap();
        let guards = [admitted(&breaker), admitted(&breaker)];
        store.is(DOWN);
        for guard in guards {
            assert_eq!(guard.failure(), Ok(Recorded::Later));
        }
        store.is(mood);
        drop(breaker);
        store.is(FINE);
        let state = on(Host::builder(), &store).inspect().unwrap().state;
        assert_eq!(state, if mood == FINE { State::Open } else { State::Closed });
    }
}
