//! Local admission, through hosts on a manual clock and a store that counts.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Barrier};
use std::time::Duration;

use crate::clock::ManualClock;
use crate::store::{CommitOutcome, Cursor, Key, MemoryStore, Page, Snapshot, Store, StoreError, Write};
use crate::wire::{DeferReason, Mode, Outcome, Ramp, SlowCalls, StaleReason, State, Transition, Verdict};
use crate::{Breaker, CallError, Clock, Decision, Host, Policy, Recorded};

use super::atomic::Ordering::SeqCst;

const MS: Duration = Duration::from_millis(1);

/// A store that counts what is asked of it.
#[derive(Default)]
struct Counting {
    inner: MemoryStore,
    loads: AtomicUsize,
    commits: AtomicUsize,
}

impl Counting {
    /// Loads and commits since the last time.
    fn since(&self) -> (usize, usize) {
        (self.loads.swap(0, SeqCst), self.commits.swap(0, SeqCst))
    }
}

impl Store for Counting {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.loads.fetch_add(1, SeqCst);
        self.inner.load(key)
    }
    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.commits.fetch_add(1, SeqCst);
        self.inner.commit(writes)
    }
    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.inner.list(namespace)
    }
    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<Transition>, StoreError> {
        self.inner.history(key, limit)
    }
    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.inner.transitions(namespace, after, limit)
    }
    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.inner.remove_namespace(namespace)
    }
}

/// One machine: a store and a clock, for as many processes as wanted.
struct Machine {
    store: Arc<Counting>,
    clock: Arc<ManualClock>,
    policy: Policy,
}

impl Machine {
    fn new(policy: Policy) -> Self {
        Machine { store: Arc::default(), clock: Arc::new(ManualClock::new(1_000_000)), policy }
    }

    fn process(&self) -> Host {
        let builder = Host::builder().shared_store(self.store.clone()).clock(self.clock.clone()).seed(1);
        builder.default_policy(self.policy).build().unwrap()
    }

    /// Advances both clocks and forgets what was counted.
    fn advance(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
    }
}

fn plain() -> Policy {
    Policy { jitter_percent: 0, ..Policy::default() }
}

fn succeed(breaker: &Breaker) {
    assert_eq!(breaker.call(|| Ok::<_, ()>(())), Ok(()));
}

fn fail(breaker: &Breaker) {
    assert_eq!(breaker.call(|| Err::<(), _>("down")), Err(CallError::Failed("down")));
}

fn admitted(breaker: &Breaker) -> crate::PermitGuard {
    match breaker.acquire().unwrap() {
        Decision::Proceed(guard) => guard,
        other => panic!("not admitted: {other:?}"),
    }
}

fn refused(breaker: &Breaker) -> crate::Deferral {
    match breaker.acquire().unwrap() {
        Decision::Defer(deferral) => deferral,
        other => panic!("not deferred: {other:?}"),
    }
}

/// What the store has of it, as another process sees it.
fn counted(machine: &Machine) -> (u64, u64) {
    let inspection = machine.process().breaker("a").inspect().unwrap();
    (inspection.calls, inspection.failures)
}

#[test]
fn closed_calls_touch_the_store_once_a_look() {
    let machine = Machine::new(plain());
    let host = machine.process();
    let breaker = host.breaker("a");
    for _ in 0..1_000 {
        succeed(&breaker);
        succeed(&host.breaker("a"));
    }
    assert_eq!(machine.store.since(), (1, 0), "handles of one dependency share what is known");
    machine.advance(249);
    succeed(&breaker);
    assert_eq!(machine.store.since(), (0, 0));
    machine.advance(1);
    succeed(&breaker);
    assert_eq!(machine.store.since(), (1, 1), "the look has ended: a new one, and what was counted");
    assert_eq!(counted(&machine), (2_001, 0));
}

#[test]
fn at_a_million_calls_a_second_the_store_sees_eight_transactions() {
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
fn a_failure_is_reported_at_once_with_the_successes_before_it() {
    let machine = Machine::new(plain());
    let breaker = machine.process().breaker("a");
    (0..7).for_each(|_| succeed(&breaker));
    machine.store.since();
    fail(&breaker);
    assert_eq!(machine.store.since(), (1, 1));
    assert_eq!(counted(&machine), (8, 1));
    let inspection = breaker.inspect().unwrap();
    assert_eq!(inspection.failures_in_row, 1, "the successes came first");
}

#[test]
fn the_last_handle_hands_over_whichever_it_is() {
    let machine = Machine::new(plain());
    let host = machine.process();
    let breaker = host.breaker("a");
    succeed(&breaker);
    drop(host);
    succeed(&breaker);
    let guard = admitted(&breaker);
    drop(breaker);
    assert_eq!(counted(&machine), (0, 0), "the permit is a handle too");
    assert_eq!(guard.success().unwrap(), Recorded::Later);
    assert_eq!(counted(&machine), (3, 0));
}

#[test]
fn on_the_machines_clock_a_thread_hands_over_when_no_call_comes() {
    let store: Arc<Counting> = Arc::default();
    let open = || Host::builder().shared_store(store.clone()).build().unwrap();
    let (host, other) = (open(), open());
    let (breaker, other) = (host.breaker("a"), other.breaker("a"));
    succeed(&breaker);
    // However long it takes: what is asserted is that it comes.
    while other.inspect().unwrap().calls == 0 {
        std::thread::sleep(MS);
    }
    succeed(&breaker);
    drop((breaker, host));
    assert_eq!(other.inspect().unwrap().calls, 2);
}

#[test]
fn no_call_is_admitted_later_than_fresh_ms_after_another_process_tripped() {
    for fresh_ms in [0, 1, 10, 250] {
        let machine = Machine::new(Policy { fresh_ms, consecutive_failures: 1, ..plain() });
        let (one, other) = (machine.process(), machine.process());
        let (one, other) = (one.breaker("a"), other.breaker("a"));
        for offset in 0..fresh_ms.max(1) {
            // The look is so old when the other process trips.
            succeed(&one);
            machine.advance(offset);
            fail(&other);
            let tripped = one.handle.host.inner.clock.now();
            while let Decision::Proceed(guard) = one.acquire().unwrap() {
                guard.ignore().unwrap();
                assert!(one.handle.host.inner.clock.now() < tripped + fresh_ms, "{fresh_ms} ms, {offset} ms old");
                machine.advance(1);
            }
            assert_eq!(other.reset().unwrap().state, State::Closed);
            machine.advance(fresh_ms);
        }
    }
}

#[test]
fn what_this_process_learns_it_acts_on_at_once() {
    let machine = Machine::new(Policy { consecutive_failures: 2, ..plain() });
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
    breaker.reset().unwrap();
    succeed(&breaker);
    breaker.configure(&Policy { fresh_ms: 0, ..plain() }).unwrap();
    assert!(admitted(&breaker).success().unwrap().is_applied(), "fresh_ms = 0: at once");
    breaker.forget().unwrap();
    succeed(&breaker);
    machine.process().breaker("a").force(Mode::Open, None, "").unwrap();
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
    assert_eq!(refused(&breaker).reason, DeferReason::ForcedOpen, "also by looking");
}

#[test]
fn a_refusal_from_memory_says_what_is_left() {
    let machine = Machine::new(Policy { consecutive_failures: 1, open_ms: 300, ..plain() });
    let breaker = machine.process().breaker("a");
    fail(&breaker);
    assert_eq!(refused(&breaker).retry_after, 300);
    machine.store.since();
    machine.advance(100);
    let left = refused(&breaker);
    assert_eq!((left.retry_after, left.fresh_for), (200, 150));
    assert_eq!(machine.store.since(), (0, 0));
    machine.advance(150);
    assert_eq!(refused(&breaker).fresh_for, 50, "no longer than the open window");
    machine.advance(50);
    assert!(matches!(breaker.acquire().unwrap(), Decision::Probe(_)));
}

#[test]
fn who_is_forced_open_is_told_the_same_length_each_time() {
    let machine = Machine::new(plain());
    let breaker = machine.process().breaker("a");
    breaker.force(Mode::Open, None, "").unwrap();
    for _ in 0..3 {
        assert_eq!(refused(&breaker).retry_after, 5_000);
        machine.advance(100);
    }
}

#[test]
fn at_the_end_of_an_open_window_a_process_asks_once() {
    let machine = Machine::new(Policy { consecutive_failures: 1, lease_ms: 60_000, ..plain() });
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
    assert_eq!(machine.store.since(), (2, 1), "one gets the probe, one hears that it is out, for all the others");
}

#[test]
fn a_clock_that_steps_back_ends_the_look() {
    let machine = Machine::new(Policy { consecutive_failures: 1, ..plain() });
    let breaker = machine.process().breaker("a");
    succeed(&breaker);
    machine.store.since();
    machine.clock.set(999_000);
    succeed(&breaker);
    assert_eq!(machine.store.since().0, 1);
}

#[test]
fn a_frozen_process_looks_again() {
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
    let (store, clock) = (Arc::<Counting>::default(), Arc::new(Frozen(ManualClock::new(1_000), ManualClock::new(0))));
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
fn during_a_ramp_it_draws_with_the_percentage_it_was_given() {
    let ramp = Some(Ramp { over_ms: 100_000, from_percent: 20 });
    let machine = Machine::new(Policy { consecutive_failures: 1, ramp, ..plain() });
    let breaker = machine.process().breaker("a");
    fail(&breaker);
    machine.advance(5_000);
    let Decision::Probe(probe) = breaker.acquire().unwrap() else { panic!("no probe") };
    probe.success().unwrap();
    machine.store.since();
    let mut shares = Vec::new();
    for _ in 0..2 {
        let mut count = 0_u32;
        for _ in 0..10_000 {
            match breaker.acquire().unwrap() {
                Decision::Proceed(guard) => {
                    assert!((20..=60).contains(&guard.percent()));
                    count += 1;
                    drop(guard);
                }
                Decision::Defer(deferral) => assert_eq!(deferral.reason, DeferReason::Ramping),
                Decision::Probe(_) => panic!("a probe while closed"),
            }
        }
        shares.push(count / 100);
        machine.advance(50_000);
    }
    assert!((18..=22).contains(&shares[0]) && (57..=63).contains(&shares[1]), "{shares:?}");
    assert!(machine.store.since().0 < 60, "the calls were asked for");
}

#[test]
fn during_a_ramp_who_loses_the_draw_comes_back_when_the_look_ends_or_as_the_component_said() {
    let ramp = Some(Ramp { over_ms: 100_000, from_percent: 50 });
    let machine = Machine::new(Policy { consecutive_failures: 1, ramp, ..plain() });
    let host = machine.process();
    let breaker = host.breaker("a");
    fail(&breaker);
    machine.advance(5_000);
    let Decision::Probe(probe) = breaker.acquire().unwrap() else { panic!("no probe") };
    probe.success().unwrap();
    // Until both kinds of answers have come from the component.
    let (mut admitted, mut deferred) = (false, false);
    while !(admitted && deferred) {
        machine.store.since();
        let said = match breaker.acquire().unwrap() {
            Decision::Proceed(_) => None,
            Decision::Defer(deferral) => Some(deferral.retry_after),
            Decision::Probe(_) => panic!("a probe while closed"),
        };
        assert_eq!(machine.store.since(), (1, 0));
        machine.advance(100);
        let loser = (0..1_000).find_map(|_| match breaker.acquire().unwrap() {
            Decision::Defer(deferral) => Some(deferral),
            _ => None,
        });
        let loser = loser.expect("of a thousand draws one is lost");
        assert_eq!(machine.store.since(), (0, 0), "the draw asks nobody");
        assert_eq!((loser.retry_after, loser.fresh_for), (said.unwrap_or(150), 150));
        assert_eq!(loser.reason, DeferReason::Ramping);
        machine.advance(150);
        *(if said.is_none() { &mut admitted } else { &mut deferred }) = true;
    }
}

#[test]
fn slow_successes_are_counted_as_slow() {
    let slow_calls = Some(SlowCalls { slower_than_ms: 100, percent: 100, minimum_calls: 1_000 });
    let machine = Machine::new(Policy { slow_calls, ..plain() });
    let breaker = machine.process().breaker("a");
    succeed(&breaker);
    for took in [99, 100, 101] {
        let slow = || {
            machine.advance(took);
            Ok::<_, ()>(())
        };
        breaker.call(slow).unwrap();
    }
    let guard = admitted(&breaker);
    machine.advance(150);
    guard.success().unwrap();
    assert_eq!(breaker.inspect().unwrap().slow, 3);
}

#[test]
fn what_the_store_does_not_take_is_told_later() {
    struct Failing(MemoryStore, std::sync::atomic::AtomicBool);
    impl Store for Failing {
        fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
            self.0.load(key)
        }
        fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
            if self.1.load(SeqCst) {
                return Err(StoreError::Unavailable { place: "test".to_owned(), why: "told to".to_owned() });
            }
            self.0.commit(writes)
        }
        fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
            self.0.list(namespace)
        }
        fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<Transition>, StoreError> {
            self.0.history(key, limit)
        }
        fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
            self.0.transitions(namespace, after, limit)
        }
        fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
            self.0.remove_namespace(namespace)
        }
    }
    let store = Arc::new(Failing(MemoryStore::new(), false.into()));
    let clock = Arc::new(ManualClock::new(1_000));
    let host = Host::builder().shared_store(store.clone()).clock(clock.clone()).build().unwrap();
    let breaker = host.breaker("a");
    (0..3).for_each(|_| succeed(&breaker));
    store.1.store(true, SeqCst);
    assert_eq!(admitted(&breaker).failure(), Ok(Recorded::Later));
    clock.advance(250 * MS);
    succeed(&breaker);
    store.1.store(false, SeqCst);
    let inspection = breaker.inspect().unwrap();
    assert_eq!((inspection.calls, inspection.failures), (5, 1));
}

#[test]
fn a_panic_is_a_failure_and_an_ignored_call_nothing() {
    let machine = Machine::new(plain());
    let breaker = machine.process().breaker("a");
    succeed(&breaker);
    let call = || breaker.call(|| -> Result<(), ()> { std::panic::resume_unwind(Box::new("the call panicked")) });
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err());
    breaker.call_with(|_| Outcome::Ignored, || Ok::<_, ()>(())).unwrap();
    assert_eq!(admitted(&breaker).ignore().unwrap(), Recorded::Nothing);
    drop(admitted(&breaker));
    assert_eq!(counted(&machine), (2, 1));
}

#[test]
fn switched_off_every_call_asks_and_every_outcome_is_written() {
    let machine = Machine::new(plain());
    let builder = Host::builder().shared_store(machine.store.clone()).clock(machine.clock.clone());
    let breaker = builder.local_admission(false).build().unwrap().breaker("a");
    for _ in 0..3 {
        assert!(admitted(&breaker).success().unwrap().is_applied());
    }
    assert_eq!(machine.store.since(), (6, 3));
}

#[test]
fn who_must_know_asks() {
    let machine = Machine::new(plain());
    let (one, other) = (machine.process().breaker("a"), machine.process().breaker("a"));
    succeed(&one);
    other.force(Mode::Open, None, "").unwrap();
    succeed(&one);
    assert!(matches!(one.acquire_fresh().unwrap(), Decision::Defer(_)));
    assert_eq!(refused(&one).reason, DeferReason::ForcedOpen, "and the others go by its answer");
}

#[test]
fn a_callers_name_that_is_too_long_is_refused_whatever_is_known() {
    let machine = Machine::new(plain());
    let breaker = machine.process().breaker("a");
    succeed(&breaker);
    for _ in 0..2 {
        let error = breaker.clone().caller("n".repeat(65)).acquire().unwrap_err();
        assert!(matches!(error, crate::BreakerError::InvalidArgument(_)), "{error}");
    }
    assert_eq!(machine.store.since().0, 3, "the look, and who was refused");
    assert_eq!(breaker.clone().caller("n".repeat(64)).call(|| Ok::<_, ()>(())), Ok(()));
    assert_eq!(machine.store.since().0, 0, "the look holds");
}

#[test]
fn async_callers_share_one_look_too() {
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
