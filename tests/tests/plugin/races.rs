//! Lost races; clocks; shared records and namespaces.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use halfopen::store::{MemoryStore, StoreError};
use halfopen::{Host, ManualClock, Mode, Operator, Outcome, Permit, Policy, State};
use halfopen_contract::types::{Decision, Probe};
use halfopen_tests::breakers::{PATIENCE, policy};

use crate::platform::{Platform, block_on, context, on};
use crate::wrapped::Wrapped;

const CLOSED: Permit = Permit { epoch: 0, lease: None };

/// Trips after this number of failures in a row.
fn after(failures: u32) -> Policy {
    policy().consecutive_failures(failures)
}

/// A store in which another host reports a failure before each of the first `commits`.
pub fn with_a_rival(inner: &Arc<MemoryStore>, commits: u32, policy: Policy) -> Wrapped {
    let builder = Host::builder().shared_store(inner.clone()).default_policy(policy).local_admission(false);
    let rival = builder.build().unwrap().breaker("pay");
    let left = AtomicU32::new(commits);
    let before_commit = move || {
        if left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
            assert!(rival.report(CLOSED, Outcome::Failure).unwrap().is_applied());
        }
        Ok(())
    };
    Wrapped { before_commit: Box::new(before_commit), ..Wrapped::around(inner) }
}

pub fn a_lost_race_is_evaluated_again_on_the_new_record() {
    // Evaluated again at once, and after a pause.
    for lost in [1, 6] {
        let store = with_a_rival(&Arc::new(MemoryStore::new()), lost, after(lost + 1));
        let mut seat = Platform::plain().seat(&context(Arc::new(store)).default_policy(after(lost + 1)));
        let receipt = seat.plugin.report(&mut seat.store, "pay", CLOSED, Outcome::Failure).unwrap();
        assert_eq!(receipt.state, State::Open, "it is the last failure that trips, and it is this one");
    }
}

pub fn a_lost_race_is_evaluated_again_in_async_code() {
    for lost in [1, 6] {
        let store = with_a_rival(&Arc::new(MemoryStore::new()), lost, after(lost + 1));
        let context = context(Arc::new(store)).default_policy(after(lost + 1));
        block_on(async {
            let mut seat = Platform::plain().async_seat(&context).await;
            let receipt = seat.plugin.report_async(&mut seat.store, "pay", CLOSED, Outcome::Failure).await.unwrap();
            assert_eq!(receipt.state, State::Open);
        });
    }
}

pub fn the_stores_clock_goes_before_the_contexts() {
    let store = Wrapped { at: Some(42), ..Wrapped::around(&Arc::default()) };
    let mut seat = Platform::plain().seat(&context(Arc::new(store)).clock(ManualClock::new(1_000_000)));
    seat.plugin.force(&mut seat.store, "pay", Mode::Open, None, &Operator::default()).unwrap();
    assert_eq!(seat.plugin.inspect(&mut seat.store, "pay").unwrap().last_change.unwrap().at, 42);
}

pub fn a_probe_that_arrives_after_its_lease_is_acquired_again() {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::new(0)));
    let policy = policy().lease_ms(100);
    let mut seat = Platform::plain().seat(&on(&store, &clock, policy.clone()));
    seat.plugin.report(&mut seat.store, "pay", CLOSED, Outcome::Failure).unwrap();
    clock.set(10);
    // The first commit takes as long as the lease.
    let (slow, once) = (clock.clone(), AtomicU32::new(1));
    let before_commit = move || {
        let first = once.swap(0, Ordering::SeqCst) == 1;
        slow.advance(Duration::from_millis(if first { 100 } else { 0 }));
        Ok(())
    };
    let store = Arc::new(Wrapped { before_commit: Box::new(before_commit), ..Wrapped::around(&store) });
    let slow = context(store).default_policy(policy).clock(clock.clone());
    let mut slow = Platform::plain().seat(&slow);
    let decision = slow.plugin.acquire(&mut slow.store, "pay", "slow").unwrap();
    let Decision::Probe(Probe { permit, expires_in: 100, .. }) = decision else { panic!("{decision:?}") };
    let leases = seat.plugin.inspect(&mut seat.store, "pay").unwrap().leases;
    assert_eq!(leases.iter().map(|lease| Some(lease.token)).collect::<Vec<_>>(), [permit.lease]);
    assert_eq!(leases[0].expires_in, 100);
}

pub fn async_operations_do_not_block_the_executor() {
    // The store answers only once another task of the same thread has run.
    let (told, wait) = mpsc::channel();
    let wait = Mutex::new(wait);
    let before_load = move || {
        let why = || StoreError::Other { place: "here".to_owned(), why: "the other task never ran".to_owned() };
        wait.lock().unwrap().recv_timeout(PATIENCE).map_err(|_| why())
    };
    let store = Wrapped { before_load: Box::new(before_load), ..Wrapped::around(&Arc::default()) };
    let context = context(Arc::new(store));
    block_on(async {
        let mut seat = Platform::plain().async_seat(&context).await;
        let asking = tokio::spawn(async move { seat.plugin.acquire_async(&mut seat.store, "pay", "A").await });
        tokio::task::yield_now().await;
        tokio::spawn(async move { told.send(()).unwrap() }).await.unwrap();
        assert!(matches!(asking.await.unwrap(), Ok(Decision::Proceed(_))));
    });
}

pub fn a_platform_and_a_host_share_records_and_leases() {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::new(0)));
    let mut seat = Platform::plain().seat(&on(&store, &clock, policy()));
    let host = Host::builder().shared_store(store).clock(clock.clone()).default_policy(policy()).build().unwrap();
    let breaker = host.breaker("pay");
    let Ok(halfopen::Decision::Proceed(guard)) = breaker.acquire() else { panic!("it is not closed") };
    seat.plugin.report(&mut seat.store, "pay", guard.into_permit(), Outcome::Failure).unwrap();
    clock.set(10);
    let Decision::Probe(probe) = seat.plugin.acquire(&mut seat.store, "pay", "A").unwrap() else { panic!("no probe") };
    assert!(matches!(breaker.acquire(), Ok(halfopen::Decision::Defer(_))));
    assert!(breaker.report(probe.permit, Outcome::Success).unwrap().is_applied());
    assert_eq!(seat.plugin.inspect(&mut seat.store, "pay").unwrap().state, State::Closed);
    assert_eq!(breaker.history(10).unwrap().len(), 3);
}

pub fn namespaces_are_kept_apart() {
    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::new(0)));
    let platform = Platform::plain();
    let of = |namespace| platform.seat(&on(&store, &clock, policy()).namespace(namespace));
    let (mut one, mut other) = (of("one"), of("other"));
    assert_eq!((one.store.data().tenant, one.store.data().plugin.namespace()), ("shop", "one"));
    one.plugin.report(&mut one.store, "pay", CLOSED, Outcome::Failure).unwrap();
    assert_eq!(one.plugin.inspect(&mut one.store, "pay").unwrap().state, State::Open);
    assert_eq!(other.plugin.inspect(&mut other.store, "pay").unwrap().state, State::Closed);
}
