//! Many callers at the same moment, each with a wasmtime store of its own.

use std::sync::{Arc, Barrier};
use std::thread;

use halfopen::store::{self, MemoryStore};
use halfopen::{Outcome, State};
use halfopen_component::PluginCtxBuilder;
use halfopen_contract::types::Decision;
use halfopen_tests::breakers::{address, policy, until};

use crate::platform::{Platform, block_on, context};

const THREADS: usize = 32;

/// Runs a test on records in memory, and in a file.
fn on_both(test: impl Fn(&PluginCtxBuilder)) {
    test(&context(Arc::new(MemoryStore::new())));
    let folder = tempfile::tempdir().unwrap();
    test(&context(store::open(&address(&folder.path().join("shared.db"))).unwrap()));
}

fn make_due(platform: &Platform, context: &PluginCtxBuilder) {
    let breakers = platform.pool(context);
    let Decision::Proceed(admission) = breakers.acquire("pay", "A").unwrap() else { panic!("it is not closed") };
    let receipt = breakers.report("pay", admission.permit, Outcome::Failure).unwrap();
    assert_eq!(receipt.state, State::Open);
    until("a probe is due", || breakers.inspect("pay").unwrap().probe_due.then_some(()));
}

fn assert_one_probe(decisions: &[Decision]) {
    let probes = decisions.iter().filter(|decision| matches!(decision, Decision::Probe(_))).count();
    let deferred = decisions.iter().filter(|decision| matches!(decision, Decision::Defer(_))).count();
    assert_eq!((probes, deferred), (1, THREADS - 1), "{decisions:?}");
}

pub fn of_many_threads_with_a_store_each_exactly_one_probes() {
    on_both(|context| {
        let platform = Platform::plain();
        make_due(&platform, context);
        let start = Barrier::new(THREADS);
        let decisions: Vec<Decision> = thread::scope(|scope| {
            let caller = |_| {
                let mut seat = platform.seat(context);
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    seat.plugin.acquire(&mut seat.store, "pay", "herd").unwrap()
                })
            };
            let threads: Vec<_> = (0..THREADS).map(caller).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_one_probe(&decisions);
        let mut seat = platform.seat(context);
        assert_eq!(seat.plugin.inspect(&mut seat.store, "pay").unwrap().leases.len(), 1);
    });
}

pub fn of_many_async_tasks_exactly_one_probes() {
    on_both(|context| {
        let platform = Platform::plain();
        make_due(&platform, context);
        let decisions: Vec<Decision> = block_on(async {
            let task = |_| {
                let (platform, context) = (platform.clone(), context.clone());
                tokio::spawn(async move {
                    let mut seat = platform.async_seat(&context).await;
                    seat.plugin.acquire_async(&mut seat.store, "pay", "herd").await.unwrap()
                })
            };
            let tasks: Vec<_> = (0..THREADS).map(task).collect();
            let mut decisions = Vec::new();
            for task in tasks {
                decisions.push(task.await.unwrap());
            }
            decisions
        });
        assert_one_probe(&decisions);
    });
}

pub fn failures_reported_at_once_are_all_counted() {
    on_both(|context| {
        let never = policy().consecutive_failures(0).window_ms(3_600_000);
        let context = context.clone().default_policy(never);
        let platform = Platform::plain();
        let breakers = platform.pool(&context);
        let Decision::Proceed(admission) = breakers.acquire("pay", "A").unwrap() else { panic!("it is not closed") };
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    let receipt = breakers.report("pay", admission.permit, Outcome::Failure).unwrap();
                    assert!(receipt.is_applied());
                });
            }
        });
        assert_eq!(breakers.inspect("pay").unwrap().failures_in_row, THREADS as u64);
    });
}
