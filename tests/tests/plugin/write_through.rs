//! Calls outside the operations of a handle: through bindings of the platform's own, with commits written through.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use halfopen::store::{self, Key, MemoryStore, Store as _, StoreError};
use halfopen::{Breaker, BreakerError, Host, ManualClock, Mode, Operator, Outcome, Permit, Policy, State};
use halfopen_component::wasmtime::{self, Store};
use halfopen_component::{Commits, ContextError, PluginCtxBuilder};
use halfopen_tests::breakers::{PATIENCE, address};

use self::bindings::exports::halfopen::breaker::breaker::{Decision, Error};
use self::bindings::halfopen::breaker::types::{
    Operator as RawOperator, Outcome as RawOutcome, Permit as RawPermit, Report as RawReport, State as RawState,
    StorageError,
};
use self::bindings::{Component, ComponentPre};
use crate::faults::{failing, hurting};
use crate::platform::{Data, Platform, block_on, context};
use crate::races::with_a_rival;
use crate::wat::Wat;
use crate::wrapped::{Wrapped, unavailable};

/// The platform's own bindings.
mod bindings {
    ::halfopen_component::wasmtime::component::bindgen!({
        path: "../wit",
        world: "component",
        wasmtime_crate: ::halfopen_component::wasmtime,
    });
}

mod in_async {
    ::halfopen_component::wasmtime::component::bindgen!({
        path: "../wit",
        world: "component",
        wasmtime_crate: ::halfopen_component::wasmtime,
        exports: { default: async },
    });
}

const CLOSED: RawPermit = RawPermit { epoch: 0, lease: None };

fn write_through(store: Arc<dyn halfopen::Store>) -> PluginCtxBuilder {
    context(store).commits(Commits::WriteThrough)
}

fn failure() -> RawReport {
    let (caller, cause) = (String::new(), String::new());
    RawReport { outcome: RawOutcome::Failure, took: None, caller, cause, retry_after: None }
}

fn unnamed() -> RawOperator {
    RawOperator { by: String::new(), note: String::new() }
}

struct Raw {
    store: Store<Data>,
    exports: Component,
}

impl Raw {
    fn new(platform: &Platform, context: &PluginCtxBuilder) -> Raw {
        let mut store = platform.store(context);
        let pre = ComponentPre::new(platform.pre.instance_pre().clone()).unwrap();
        let exports = pre.instantiate(&mut store).unwrap();
        Raw { store, exports }
    }

    fn acquire(&mut self) -> Result<Decision, Error> {
        self.exports.halfopen_breaker_breaker().call_acquire(&mut self.store, "pay", "A").unwrap()
    }

    /// Reports a failure, and returns whether it is open then.
    fn fail(&mut self) -> Result<bool, Error> {
        let breaker = self.exports.halfopen_breaker_breaker();
        let receipt = breaker.call_report(&mut self.store, "pay", CLOSED, &failure()).unwrap()?;
        Ok(receipt.state == RawState::Open)
    }

    fn reset(&mut self, dependency: &str) -> wasmtime::Result<()> {
        self.exports.halfopen_breaker_control().call_reset(&mut self.store, dependency, &unnamed()).map(drop)
    }
}

fn is_open(breaker: &Breaker) -> bool {
    breaker.inspect().unwrap().state == State::Open
}

pub fn a_commit_is_in_the_store_before_the_call_answers() {
    let folder = tempfile::tempdir().unwrap();
    let file = address(&folder.path().join("records.db"));
    for (store, other) in [
        {
            let store: Arc<dyn halfopen::Store> = Arc::new(MemoryStore::new());
            (store.clone(), store)
        },
        (store::open(&file).unwrap(), store::open(&file).unwrap()),
    ] {
        let built_in = Policy::new().consecutive_failures(5);
        let host = Host::builder().shared_store(other).default_policy(built_in).build().unwrap();
        let mut raw = Raw::new(&Platform::plain(), &write_through(store));
        assert!(matches!(raw.acquire(), Ok(Decision::Proceed(_))));
        for number in 1..=5 {
            let open = raw.fail().unwrap();
            assert_eq!(open, number == 5);
            assert_eq!(is_open(&host.breaker("pay")), open);
        }
        assert_eq!(host.breaker("pay").history(10).unwrap().len(), 1);
        assert!(matches!(raw.acquire(), Ok(Decision::Defer(_))));
    }
}

pub fn held_commits_refuse_calls_outside_an_operation() {
    let store = Arc::new(MemoryStore::new());
    let mut raw = Raw::new(&Platform::plain(), &context(store.clone()));
    assert!(matches!(raw.acquire(), Err(Error::Storage(StorageError::Denied(_)))));
    assert!(matches!(raw.fail(), Err(Error::Storage(StorageError::Denied(_)))));
    assert_eq!(store.list("default").unwrap(), Vec::<String>::new());
}

pub fn the_component_evaluates_again_after_a_lost_race() {
    // The rival is a host with the same built-in policy.
    for lost in [1, 4] {
        let inner = Arc::new(MemoryStore::new());
        let mut raw = Raw::new(&Platform::plain(), &write_through(Arc::new(with_a_rival(&inner, lost, Policy::new()))));
        let open = raw.fail().unwrap();
        assert_eq!(open, lost == 4, "it has seen the other's failures");
        let host = Host::builder().shared_store(inner).build().unwrap();
        assert_eq!(is_open(&host.breaker("pay")), open);
    }
}

pub fn a_race_that_is_always_lost_is_contended() {
    let never = Policy::new().consecutive_failures(0).failure_rate_off();
    let inner = Arc::new(MemoryStore::new());
    let host = Host::builder().shared_store(inner.clone()).build().unwrap();
    host.breaker("pay").configure(&never, "").unwrap();
    let mut raw = Raw::new(&Platform::plain(), &write_through(Arc::new(with_a_rival(&inner, u32::MAX, never))));
    assert!(matches!(raw.fail(), Err(Error::Contended)));
}

pub fn a_failing_store_is_a_typed_error_without_its_address() {
    let fails = Arc::new(AtomicBool::new(true));
    let mut raw = Raw::new(&Platform::plain(), &write_through(Arc::new(failing(&fails))));
    let error = raw.acquire().unwrap_err();
    assert!(matches!(error, Error::Storage(StorageError::Unavailable(_))), "{error:?}");
    assert!(!format!("{error:?}").contains("db.internal"), "{error:?}");
    fails.store(false, std::sync::atomic::Ordering::SeqCst);
    assert!(matches!(raw.acquire(), Ok(Decision::Proceed(_))), "the instance serves on");

    let store = Wrapped { before_commit: Box::new(|| Err(unavailable())), ..Wrapped::around(&Arc::default()) };
    let mut raw = Raw::new(&Platform::plain(), &write_through(Arc::new(store)));
    assert!(matches!(raw.fail(), Err(Error::Storage(StorageError::Unavailable(_)))));
}

/// An operation of a handle would have dropped it.
pub fn a_commit_stays_where_the_call_then_traps() {
    let store = Arc::new(MemoryStore::new());
    let mut raw = Raw::new(&Platform::of(hurting("unreachable")), &write_through(store.clone()));
    raw.reset("a").unwrap_err();
    assert_eq!(store.load(Key { namespace: "default", dependency: "a" }).unwrap().version, 1);
}

pub fn the_stores_clock_goes_before_the_contexts() {
    let inner = Arc::new(MemoryStore::new());
    let store = Wrapped { at: Some(42), ..with_a_rival(&inner, 1, Policy::new()) };
    let mut raw = Raw::new(&Platform::plain(), &write_through(Arc::new(store)).clock(ManualClock::new(1_000_000)));
    for _ in 0..4 {
        raw.fail().unwrap();
    }
    let host = Host::builder().shared_store(inner).build().unwrap();
    let history = host.breaker("pay").history(10).unwrap();
    assert_eq!(history.iter().map(|change| change.at).collect::<Vec<_>>(), [42]);
}

pub fn versions_at_the_end_of_all_numbers_are_refused() {
    for version in [u64::MAX, u64::MAX - 1, i64::MAX as u64] {
        // Commits on that version, whatever the record's is, and answers ok.
        let commit = format!(
            "(call $import (local.get 0) (local.get 1) (i64.const {}) (i32.const 1) (i32.const 0) (i32.const 1)
                (i32.const 0) (i32.const 0) (i32.const 4096)) (i32.const 1024)",
            version as i64
        );
        let platform = Platform::of(Wat::default().body("reset", &commit).component());
        let folder = tempfile::tempdir().unwrap();
        let file = store::open(&address(&folder.path().join("records.db"))).unwrap();
        for store in [Arc::new(MemoryStore::new()) as Arc<dyn halfopen::Store>, file] {
            let mut raw = Raw::new(&platform, &write_through(store.clone()));
            raw.reset("a").unwrap();
            assert_eq!(store.list("default").unwrap(), Vec::<String>::new());
        }
    }
}

pub fn a_store_whose_clocks_may_be_apart_is_refused() {
    let store = Wrapped { max_skew: Some(Duration::from_secs(1)), ..Wrapped::around(&Arc::default()) };
    let error = write_through(Arc::new(store)).build().unwrap_err();
    assert_eq!(error, ContextError::SkewedClocks { skew_ms: 1_000 });
}

pub fn operations_of_a_handle_are_held_all_the_same() {
    let store = Arc::new(MemoryStore::new());
    let mut seat = Platform::of(hurting("unreachable")).seat(&write_through(store.clone()));
    let error = seat.plugin.reset(&mut seat.store, "a", &Operator::default()).unwrap_err();
    assert!(matches!(error, BreakerError::Engine(_)), "{error:?}");
    assert_eq!(store.load(Key { namespace: "default", dependency: "a" }).unwrap().version, 0);

    let mut seat = Platform::plain().seat(&write_through(store));
    seat.plugin.force(&mut seat.store, "a", Mode::Open, None, &Operator::default()).unwrap();
    let permit = Permit { epoch: 0, lease: None };
    let receipt = seat.plugin.report(&mut seat.store, "a", permit, Outcome::Success).unwrap();
    assert!(!receipt.is_applied());
}

pub fn async_calls_do_not_block_the_executor() {
    // The store answers only once another task of the same thread has run.
    let (told, wait) = mpsc::channel();
    let wait = Mutex::new(wait);
    let before_load = move || {
        let why = || StoreError::Other { place: "here".to_owned(), why: "the other task never ran".to_owned() };
        wait.lock().unwrap().recv_timeout(PATIENCE).map_err(|_| why())
    };
    let inner = Arc::new(MemoryStore::new());
    let store = Wrapped { before_load: Box::new(before_load), ..Wrapped::around(&inner) };
    let (platform, context) = (Platform::plain(), write_through(Arc::new(store)));
    block_on(async {
        let mut store = platform.store(&context);
        let pre = in_async::ComponentPre::new(platform.in_async.instance_pre().clone()).unwrap();
        let exports = pre.instantiate_async(&mut store).await.unwrap();
        let asking = tokio::spawn(async move {
            let control = exports.halfopen_breaker_control();
            let forced = in_async::halfopen::breaker::types::Mode::Open;
            let operator = in_async::halfopen::breaker::types::Operator { by: String::new(), note: String::new() };
            control.call_force(&mut store, "pay", forced, None, &operator).await.unwrap().is_ok()
        });
        tokio::task::yield_now().await;
        tokio::spawn(async move { told.send(()).unwrap() }).await.unwrap();
        assert!(asking.await.unwrap());
    });
    let host = Host::builder().shared_store(inner).build().unwrap();
    assert!(is_open(&host.breaker("pay")));
}
