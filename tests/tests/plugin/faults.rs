//! Failures: typed errors that leave nothing behind.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread::{self, ThreadId};
use std::time::Duration;

use halfopen::store::{Key, MemoryStore, Store as _, Write};
use halfopen::{BreakerError, Component, EngineError, Mode, Operator, Policy, State, StoreError};
use halfopen_component::wasmtime::{Config, Store};
use halfopen_component::{InstantiateError, PluginCtx, PoolError};
use halfopen_contract::types::Decision;

use crate::platform::{Data, Platform, block_on, context};
use crate::wat::Wat;
use crate::wrapped::{Wrapped, unavailable};

const KEY: Key<'_> = Key { namespace: "default", dependency: "a" };

/// The operator of these tests.
fn unnamed() -> Operator {
    Operator::default()
}

/// A component whose `reset` commits and then runs `body`; the other functions work.
pub fn hurting(body: &str) -> Vec<u8> {
    Wat::default().body("reset", &format!("(call $commit (local.get 0) (local.get 1)) {body}")).component()
}

pub fn a_commit_before_a_trap_is_dropped() {
    let store = Arc::new(MemoryStore::new());
    let mut seat = Platform::of(hurting("unreachable")).seat(&context(store.clone()));
    let error = seat.plugin.reset(&mut seat.store, "a", &unnamed()).unwrap_err();
    assert!(matches!(error, BreakerError::Engine(EngineError::Trapped { .. })), "{error:?}");
    assert_eq!(store.load(KEY).unwrap().version, 0);
}

pub fn a_commit_before_an_error_is_dropped() {
    let store = Arc::new(MemoryStore::new());
    let mut seat = Platform::of(hurting("(call $err (i32.const 0) (i32.const 0))")).seat(&context(store.clone()));
    for _ in 0..2 {
        let error = seat.plugin.reset(&mut seat.store, "a", &unnamed()).unwrap_err();
        assert!(matches!(error, BreakerError::InvalidDependency { .. }), "{error:?}");
    }
    assert_eq!(store.load(KEY).unwrap().version, 0);
}

pub fn after_a_trap_the_handle_is_spent_and_says_what_to_do() {
    let mut seat = Platform::of(hurting("unreachable")).seat(&context(Arc::new(MemoryStore::new())));
    assert!(!seat.plugin.is_spent());
    seat.plugin.reset(&mut seat.store, "a", &unnamed()).unwrap_err();
    assert!(seat.plugin.is_spent());
    let error = seat.plugin.acquire(&mut seat.store, "a", "A").unwrap_err();
    assert_eq!(error, BreakerError::Engine(EngineError::Spent));
    assert!(error.to_string().contains("make another"), "{error}");
}

pub fn a_pool_discards_the_store_of_a_trap_and_serves_on() {
    let (store, platform) = (Arc::new(MemoryStore::new()), Platform::of(hurting("unreachable")));
    let pool = platform.pool(&context(store.clone()));
    for _ in 0..3 {
        let error = pool.reset("a", &unnamed()).unwrap_err();
        let PoolError::Breaker(BreakerError::Engine(EngineError::Trapped { .. })) = error else { panic!("{error:?}") };
        assert!(matches!(pool.acquire("a", "A"), Ok(Decision::Proceed(_))));
    }
    let pool = platform.async_pool(&context(store.clone()));
    block_on(async {
        for _ in 0..3 {
            let error = pool.reset_async("a", &unnamed()).await.unwrap_err();
            assert!(matches!(error, PoolError::Breaker(BreakerError::Engine(_))), "{error:?}");
            assert!(matches!(pool.acquire_async("a", "A").await, Ok(Decision::Proceed(_))));
        }
    });
    assert_eq!(store.load(KEY).unwrap().version, 0);
}

pub fn documents_that_are_none_break_the_contract() {
    // Its inspection and its policy are empty texts.
    let mut seat = Platform::of(Wat::default().component()).seat(&context(Arc::new(MemoryStore::new())));
    let inspected = seat.plugin.inspect(&mut seat.store, "a").unwrap_err();
    let policy = seat.plugin.policy(&mut seat.store, "a").unwrap_err();
    for error in [inspected, policy] {
        assert!(matches!(error, BreakerError::Engine(EngineError::Broken { .. })), "{error:?}");
    }
}

pub fn a_call_reaches_the_record_of_its_own_dependency_only() {
    // Commits for the one-byte name at 3000, and answers ok.
    let wat = Wat::default().with(r#"(data (i32.const 3000) "b")"#);
    let body = "(call $commit (i32.const 3000) (i32.const 1)) (i32.const 1024)";
    let store = Arc::new(MemoryStore::new());
    let mut seat = Platform::of(wat.body("reset", body).component()).seat(&context(store.clone()));
    seat.plugin.reset(&mut seat.store, "a", &unnamed()).unwrap();
    assert_eq!(store.list("default").unwrap(), Vec::<String>::new());
    seat.plugin.reset(&mut seat.store, "b", &unnamed()).unwrap();
    assert_eq!(store.list("default").unwrap(), ["b"]);
}

/// A store that fails while `fails` is set.
pub fn failing(fails: &Arc<AtomicBool>) -> Wrapped {
    let hook = || {
        let fails = fails.clone();
        Box::new(move || if fails.load(Ordering::SeqCst) { Err(unavailable()) } else { Ok(()) })
    };
    Wrapped { before_load: hook(), before_commit: hook(), ..Wrapped::around(&Arc::default()) }
}

pub fn a_failing_store_is_a_typed_error_and_the_instance_serves_on() {
    let fails = Arc::new(AtomicBool::new(true));
    let mut seat = Platform::plain().seat(&context(Arc::new(failing(&fails))));
    let error = seat.plugin.acquire(&mut seat.store, "a", "A").unwrap_err();
    assert_eq!(error, BreakerError::Store(unavailable()));
    fails.store(false, Ordering::SeqCst);
    assert!(matches!(seat.plugin.acquire(&mut seat.store, "a", "A"), Ok(Decision::Proceed(_))));

    // The load works, the commit does not.
    let store = Wrapped { before_commit: Box::new(|| Err(unavailable())), ..Wrapped::around(&Arc::default()) };
    let mut seat = Platform::plain().seat(&context(Arc::new(store)));
    let error = seat.plugin.force(&mut seat.store, "a", Mode::Open, None, &unnamed()).unwrap_err();
    assert_eq!(error, BreakerError::Store(unavailable()));
    assert_eq!(seat.plugin.inspect(&mut seat.store, "a").unwrap().state, State::Closed);
}

pub fn a_failing_store_is_a_typed_error_in_async_code() {
    let fails = Arc::new(AtomicBool::new(true));
    let context = context(Arc::new(failing(&fails)));
    block_on(async {
        let mut seat = Platform::plain().async_seat(&context).await;
        let error = seat.plugin.acquire_async(&mut seat.store, "a", "A").await.unwrap_err();
        assert_eq!(error, BreakerError::Store(unavailable()));
        fails.store(false, Ordering::SeqCst);
        assert!(matches!(seat.plugin.acquire_async(&mut seat.store, "a", "A").await, Ok(Decision::Proceed(_))));
    });
}

pub fn a_damaged_record_is_an_error_and_can_be_reset() {
    let store = Arc::new(MemoryStore::new());
    let damaged = Some(&[0xff; 40][..]);
    store.commit(&[Write { key: KEY, based_on: 0, version: 1, data: damaged, transitions: &[], history: 0 }]).unwrap();
    let mut seat = Platform::plain().seat(&context(store));
    let error = seat.plugin.acquire(&mut seat.store, "a", "A").unwrap_err();
    assert!(matches!(error, BreakerError::Store(StoreError::Corrupt { .. })), "{error:?}");
    seat.plugin.reset(&mut seat.store, "a", &unnamed()).unwrap();
    assert!(matches!(seat.plugin.acquire(&mut seat.store, "a", "A"), Ok(Decision::Proceed(_))));
}

pub fn bad_input_is_refused_and_changes_nothing() {
    let store = Arc::new(MemoryStore::new());
    let mut seat = Platform::plain().seat(&context(store.clone()));
    let long = "x".repeat(257);
    for name in ["", "a\nb", &long] {
        let error = seat.plugin.force(&mut seat.store, name, Mode::Open, None, &unnamed()).unwrap_err();
        assert!(matches!(error, BreakerError::InvalidDependency { .. }), "{error:?}");
    }
    let policy = Policy::new().open_ms(0);
    let error = seat.plugin.configure(&mut seat.store, "a", Some(&policy), &unnamed()).unwrap_err();
    assert!(matches!(error, BreakerError::InvalidPolicy(_)), "{error:?}");
    assert_eq!(store.list("default").unwrap(), Vec::<String>::new());
}

pub fn an_invalid_default_policy_is_refused_with_all_its_faults() {
    let policy = Policy::new().open_ms(0).failure_rate(101, 0).window_ms(15);
    let platform = Platform::plain();
    let mut store = platform.store(&context(Arc::new(MemoryStore::new())).default_policy(policy));
    let Err(InstantiateError::InvalidPolicy(faults)) = platform.pre.instantiate(&mut store) else {
        panic!("an invalid policy was accepted")
    };
    assert_eq!(faults.len(), 4, "{faults:?}");
}

pub fn a_lease_that_is_too_short_for_the_stores_clocks_is_refused() {
    let store = Wrapped { max_skew: Some(Duration::from_secs(1)), ..Wrapped::around(&Arc::default()) };
    let store = Arc::new(store);
    let short = Policy::new().lease_ms(1_999);
    let platform = Platform::plain();
    let mut unsuitable = platform.store(&PluginCtx::builder(store.clone()).default_policy(short.clone()));
    let error = platform.pre.instantiate(&mut unsuitable).unwrap_err();
    assert!(matches!(&error, InstantiateError::InvalidPolicy(faults) if faults.len() == 1), "{error}");
    let mut seat = Platform::plain().seat(&PluginCtx::builder(store));
    let error = seat.plugin.configure(&mut seat.store, "a", Some(&short), &unnamed()).unwrap_err();
    assert!(matches!(error, BreakerError::InvalidPolicy(_)), "{error:?}");
}

/// Tells the component's yields, which wake during the poll, from the store's answers, which wake from another thread.
struct Yields {
    here: ThreadId,
    seen: AtomicBool,
}

impl Wake for Yields {
    fn wake(self: Arc<Self>) {
        self.seen.fetch_or(thread::current().id() == self.here, Ordering::SeqCst);
    }
}

pub fn a_future_dropped_while_the_component_runs_spends_the_handle() {
    let mut config = Config::new();
    config.consume_fuel(true);
    let platform = Platform::new(&config, &Component::embedded());
    let context = context(Arc::new(MemoryStore::new()));
    let make = |context: &halfopen_component::PluginCtxBuilder| -> Store<Data> {
        let mut store = platform.store(context);
        store.set_fuel(u64::MAX).unwrap();
        store
    };
    let mut store = make(&context);
    let mut plugin = block_on(platform.in_async.instantiate_async(&mut store)).unwrap();
    // From now on it yields after every few instructions.
    store.fuel_async_yield_interval(Some(1)).unwrap();
    {
        let mut acquire = pin!(plugin.acquire_async(&mut store, "a", "A"));
        let yields = Arc::new(Yields { here: thread::current().id(), seen: AtomicBool::new(false) });
        let waker = Waker::from(yields.clone());
        while !yields.seen.load(Ordering::SeqCst) {
            let polled = acquire.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending(), "it has ended before it could be dropped");
        }
    }
    assert!(plugin.is_spent());
    let error = block_on(plugin.acquire_async(&mut store, "a", "A")).unwrap_err();
    assert_eq!(error, BreakerError::Engine(EngineError::Spent));
}
