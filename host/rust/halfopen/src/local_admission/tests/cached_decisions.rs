//! The calls that go to the store, and those that do not.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use super::*;
use crate::local_admission::Entry;
use crate::{Clock as _, Recorded};
use crate::{DeferReason, Mode, StaleReason, State, Verdict};

#[test]
fn closed_calls_reach_the_store_once_in_fresh_ms() {
    let machine = Machine::new(plain());
    let host = machine.process();
    let breaker = host.breaker("a");
    for _ in 0..1_000 {
        succeed(&breaker);
        succeed(&host.breaker("a"));
    }
    assert_eq!(machine.store.since(), (1, 0), "handles of one dependency share the decision");
    machine.advance(249);
    succeed(&breaker);
    assert_eq!(machine.store.since(), (0, 0));
    machine.advance(1);
    succeed(&breaker);
    assert_eq!(machine.store.since(), (1, 1), "the decision has ended: a new one, and the successes");
    assert_eq!(counted(&machine), (2_001, 0));
}

#[test]
fn a_million_calls_a_second_are_eight_transactions() {
    let machine = Machine::new(plain());
    let host = machine.process();
    let breaker = host.breaker("a");
    succeed(&breaker);
    machine.store.since();
    for _ in 0..1_000 {
        machine.advance(1);
        for _ in 0..1_000 {
            succeed(&breaker);
        }
    }
    let (loads, commits) = machine.store.since();
    assert!(loads + commits <= 8, "{loads} loads and {commits} commits");
    drop((breaker, host));
    assert_eq!(counted(&machine).0, 1_000_001);
}

#[test]
fn no_call_is_admitted_fresh_ms_after_another_process_tripped() {
    for fresh_ms in [0, 1, 10, 250] {
        let machine = Machine::new(plain().fresh_ms(fresh_ms).consecutive_failures(1));
        let (one, other) = (machine.process(), machine.process());
        let (one, other) = (one.breaker("a"), other.breaker("a"));
        for offset in 0..fresh_ms.max(1) {
            // The age of the decision when the other process trips.
            succeed(&one);
            machine.advance(offset);
            fail(&other);
            let tripped = one.handle.inner.clock.now();
            while let Decision::Proceed(guard) = one.acquire().unwrap() {
                guard.ignore().unwrap();
                assert!(one.handle.inner.clock.now() < tripped + fresh_ms, "{fresh_ms} ms, {offset} ms old");
                machine.advance(1);
            }
            assert_eq!(other.reset("").unwrap().state, State::Closed);
            machine.advance(fresh_ms);
        }
    }
}

#[test]
fn a_process_acts_at_once_on_what_it_learns() {
    let machine = Machine::new(plain().consecutive_failures(2));
    let host = machine.process();
    let breaker = host.breaker("a");
    succeed(&breaker);
    let late = admitted(&breaker);
    fail(&breaker);
    fail(&breaker);
    assert_eq!(refused(&host.breaker("a")).reason, DeferReason::Open, "tripped");
    let stale = late.success().unwrap();
    let Recorded::Now(receipt) = &stale else { panic!("{stale:?}") };
    assert_eq!(receipt.verdict, Verdict::Stale(StaleReason::OldEpoch), "of an older epoch");

    machine.advance(5_000);
    let Decision::Probe(probe) = breaker.acquire().unwrap() else { panic!("no probe") };
    assert_eq!(refused(&breaker).reason, DeferReason::Probing);
    probe.success().unwrap();
    succeed(&breaker);

    breaker.force(Mode::Open, None, "").unwrap();
    assert_eq!(refused(&breaker).reason, DeferReason::ForcedOpen);
    breaker.reset("").unwrap();
    succeed(&breaker);
    breaker.configure(&plain().fresh_ms(0), "").unwrap();
    assert!(admitted(&breaker).success().unwrap().is_applied(), "fresh_ms = 0: at once");
    breaker.forget("").unwrap();
    succeed(&breaker);
    machine.process().breaker("a").force(Mode::Open, None, "").unwrap();
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
    assert_eq!(refused(&breaker).reason, DeferReason::ForcedOpen, "also by inspection");
}

#[test]
fn at_the_end_of_an_open_window_a_process_acquires_once() {
    let machine = Machine::new(plain().consecutive_failures(1).lease_ms(60_000));
    let host = machine.process();
    let breaker = host.breaker("a");
    fail(&breaker);
    refused(&breaker);
    machine.advance(5_000);
    machine.store.since();
    let start = Barrier::new(16);
    let answers: Vec<_> = std::thread::scope(|scope| {
        let ask = || {
            start.wait();
            breaker.clone().acquire().unwrap()
        };
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|answer| matches!(answer, Decision::Probe(_))).count(), 1);
    assert_eq!(machine.store.since(), (2, 1), "one gets the probe, one is deferred, for all the others");
}

#[test]
fn a_clock_that_steps_back_ends_the_decision() {
    let machine = Machine::new(plain().consecutive_failures(1));
    let breaker = machine.process().breaker("a");
    succeed(&breaker);
    machine.store.since();
    machine.clock.set(999_000);
    succeed(&breaker);
    assert_eq!(machine.store.since().0, 1);
}

#[test]
fn a_frozen_process_acquires_again() {
    // Thawed, it finds only the wall clock moved on; or, after a step back, only the other one.
    struct Frozen(ManualClock, ManualClock);
    impl crate::Clock for Frozen {
        fn now(&self) -> u64 {
            self.0.now()
        }
        fn monotonic(&self) -> Duration {
            self.1.monotonic()
        }
        fn runs(&self) -> bool {
            false
        }
    }
    let (store, clock) = (Arc::<Watched>::default(), Arc::new(Frozen(ManualClock::new(1_000), ManualClock::new(0))));
    let host = Host::builder().shared_store(store.clone()).clock(clock.clone()).build().unwrap();
    let breaker = host.breaker("a");
    for moved in [&clock.0, &clock.1] {
        succeed(&breaker);
        store.since();
        moved.advance(249 * MS);
        succeed(&breaker);
        assert_eq!(store.since().0, 0);
        moved.advance(MS);
        succeed(&breaker);
        assert_eq!(store.since().0, 1);
    }
}

#[test]
fn switched_off_every_call_and_outcome_reaches_the_store() {
    let machine = Machine::new(plain());
    let builder = Host::builder().shared_store(machine.store.clone()).clock(machine.clock.clone());
    let breaker = builder.local_admission(false).build().unwrap().breaker("a");
    for _ in 0..3 {
        assert!(admitted(&breaker).success().unwrap().is_applied());
    }
    assert_eq!(machine.store.since(), (6, 3));
}

#[test]
fn async_callers_share_one_decision_too() {
    let machine = Machine::new(plain());
    let breaker = machine.process().breaker("a");
    futures_lite::future::block_on(async {
        for _ in 0..100 {
            breaker.call_async(|| async { Ok::<_, ()>(()) }).await.unwrap();
        }
        assert_eq!(machine.store.since(), (1, 0));
        assert!(breaker.call_async(|| async { Err::<(), _>(()) }).await.is_err());
    });
    assert_eq!(counted(&machine), (101, 1));
}

#[test]
fn behind_a_store_slower_than_fresh_ms_no_caller_waits_in_line() {
    let clock = Arc::new(ManualClock::new(1_000_000));
    let (passing, takes) = (clock.clone(), Arc::new(AtomicU64::new(0)));
    let way = takes.clone();
    let store = Arc::new(Watched::with(move |_| {
        passing.advance(Duration::from_millis(way.load(SeqCst)));
        Ok(())
    }));
    let host = Host::builder().shared_store(store).clock(clock).default_policy(plain()).build().unwrap();
    let breaker = host.breaker("a");
    let local = breaker.handle.local.clone().unwrap();
    for (ms, shared) in [(400, false), (249, true), (250, false)] {
        takes.store(ms, SeqCst);
        local.end();
        drop(breaker.acquire().unwrap());
        let entries = [local.enter(), local.enter()];
        assert_eq!(matches!(entries[1], Entry::Wait(_)), shared, "{ms} ms");
    }
}
