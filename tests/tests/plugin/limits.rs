//! The settings of a platform, and the errors where they do not suffice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use halfopen::store::MemoryStore;
use halfopen::{BreakerError, Component, EngineError, Operator, Policy, Tally};
use halfopen_component::wasmtime::component::Linker;
use halfopen_component::wasmtime::{Config, Engine, Store};
use halfopen_component::{
    CORE_INSTANCES, InstantiateError, Plugin, PluginPre, PluginView, PrepareError, TABLES, add_to_linker,
};
use halfopen_contract::types::Decision;

use crate::platform::{Data, Platform, context, pooling, pooling_of};

fn with_fuel() -> Config {
    let mut config = Config::new();
    config.consume_fuel(true);
    config
}

fn memory() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new())
}

fn assert_stopped<T: PluginView>(plugin: &mut Plugin, store: &mut Store<T>) {
    let error = plugin.acquire(&mut *store, "a", "A").unwrap_err();
    assert!(matches!(error, BreakerError::Engine(EngineError::Stopped { .. })), "{error:?}");
    assert!(plugin.is_spent());
}

pub fn fuel_that_is_used_up_is_a_typed_error() {
    let platform = Platform::new(&with_fuel(), &Component::embedded());
    let mut store = platform.store(&context(memory()));
    store.set_fuel(1_000_000).unwrap();
    let mut plugin = platform.pre.instantiate(&mut store).unwrap();
    plugin.acquire(&mut store, "a", "A").unwrap();
    store.set_fuel(100).unwrap();
    assert_stopped(&mut plugin, &mut store);
}

pub fn an_epoch_that_has_passed_is_a_typed_error() {
    let mut config = Config::new();
    config.epoch_interruption(true);
    let platform = Platform::new(&config, &Component::embedded());
    let mut store = platform.store(&context(memory()));
    store.set_epoch_deadline(1);
    let mut plugin = platform.pre.instantiate(&mut store).unwrap();
    plugin.acquire(&mut store, "a", "A").unwrap();
    platform.engine.increment_epoch();
    assert_stopped(&mut plugin, &mut store);
}

pub fn a_pool_sets_the_limits_of_each_call() {
    let platform = Platform::new(&with_fuel(), &Component::embedded());
    let fuel = Arc::new(AtomicU64::new(1_000_000));
    let given = fuel.clone();
    let pool = platform.pool(&context(memory()));
    let pool = pool.before_each(move |store| store.set_fuel(given.load(Ordering::SeqCst)));
    // The longest operation: a window of a thousand calls.
    let policy = Policy::new().window_calls(1_000).failure_rate_off();
    pool.configure("a", Some(&policy), &Operator::default()).unwrap();
    let Ok(Decision::Proceed(admission)) = pool.acquire("a", "A") else { panic!("it is not closed") };
    let tally = Tally { successes: 2_000, ..Tally::default() };
    assert!(pool.report_tally("a", admission.permit, tally).unwrap().is_applied());
    assert_eq!(pool.inspect("a").unwrap().calls, 1_000);
    // A call gets new fuel, and not the rest of the last call's.
    for _ in 0..100 {
        assert!(matches!(pool.acquire("a", "A"), Ok(Decision::Proceed(_))));
    }
    fuel.store(100, Ordering::SeqCst);
    pool.acquire("a", "A").unwrap_err();
    fuel.store(1_000_000, Ordering::SeqCst);
    assert!(matches!(pool.acquire("a", "A"), Ok(Decision::Proceed(_))));
}

pub fn the_pooling_allocator_needs_no_more_than_is_documented() {
    let platform = Platform::new(&pooling(2), &Component::embedded());
    // A store that is dropped makes room for another.
    for _ in 0..10 {
        let mut seats = [(); 2].map(|()| platform.seat(&context(memory())));
        for seat in &mut seats {
            assert!(matches!(seat.plugin.acquire(&mut seat.store, "a", "A"), Ok(Decision::Proceed(_))));
        }
    }
}

pub fn the_pooling_allocator_needs_no_less_than_is_documented() {
    for config in [pooling_of(1, CORE_INSTANCES - 1, TABLES), pooling_of(1, CORE_INSTANCES, TABLES - 1)] {
        let mut linker: Linker<Data> = Linker::new(&Engine::new(&config).unwrap());
        add_to_linker(&mut linker).unwrap();
        let error = PluginPre::new(&linker, &Component::embedded()).unwrap_err();
        assert!(matches!(error, PrepareError::Engine { .. }), "{error:?}");
    }
}

pub fn an_allocator_that_is_full_is_a_typed_error() {
    let platform = Platform::new(&pooling(1), &Component::embedded());
    let _seat = platform.seat(&context(memory()));
    let mut store = platform.store(&context(memory()));
    let error = platform.pre.instantiate(&mut store).unwrap_err();
    assert!(matches!(error, InstantiateError::Store { .. }), "{error:?}");
}

pub fn an_error_without_imports_names_the_function_to_call() {
    let linker: Linker<Data> = Linker::new(&Engine::default());
    let error = PluginPre::new(&linker, &Component::embedded()).unwrap_err();
    assert!(matches!(error, PrepareError::Linker { .. }), "{error:?}");
    assert!(error.to_string().contains("add_to_linker"), "{error}");

    let mut linker: Linker<Data> = Linker::new(&Engine::default());
    add_to_linker(&mut linker).unwrap();
    let twice = add_to_linker(&mut linker).unwrap_err().to_string();
    assert!(twice.contains("halfopen:breaker already"), "{twice}");
}

pub fn an_error_of_an_engine_names_its_needs() {
    let mut config = Config::new();
    config.wasm_component_model(false);
    let mut linker: Linker<Data> = Linker::new(&Engine::new(&config).unwrap());
    add_to_linker(&mut linker).unwrap();
    let error = PluginPre::new(&linker, &Component::embedded()).unwrap_err();
    assert!(matches!(error, PrepareError::Engine { .. }), "{error:?}");
    assert!(error.to_string().contains("on by default"), "{error}");
}

pub fn async_imports_in_a_call_that_is_not_async_are_a_typed_error() {
    let platform = Platform::plain();
    let mut store = platform.store(&context(memory()));
    let error = platform.in_async.instantiate(&mut store).unwrap_err();
    let InstantiateError::Store { why } = error else { panic!("{error:?}") };
    assert!(why.contains("async"), "{why}");
}
