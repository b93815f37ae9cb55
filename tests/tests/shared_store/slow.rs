//! A store that is far away: 200 ms each way.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use halfopen::store;
use halfopen::{Breaker, BreakerError, Decision, Host, ManualClock, Policy, StoreError};
use halfopen_tests::breakers::{LONG_MS, until};
use halfopen_tests::herd::Place;
use halfopen_tests::proxy::Proxy;
use halfopen_tests::stores::behind_proxy;
use halfopen_tests::tap::Tap;

const EACH_WAY: Duration = Duration::from_millis(200);
const CALLS: u64 = 5_000;
const THREADS: u64 = 4;

/// The store of a test: what is asked of it is counted before the slow way begins.
struct Far {
    place: Place,
    proxy: Proxy,
    store: Arc<Tap>,
}

impl Far {
    fn at(address: &str) -> Far {
        let (through, proxy) = behind_proxy(address);
        let store = store::open(&through).expect("the store opens");
        proxy.delay(EACH_WAY);
        Far { place: Place::at(address), proxy, store: Arc::new(Tap::new(store)) }
    }

    /// A host on it.
    fn host(&self, fresh_ms: u64, clock: Option<&Arc<ManualClock>>) -> Host {
        let policy = long().fresh_ms(fresh_ms);
        let builder = Host::builder().shared_store(self.store.clone()).namespace(&self.place.namespace);
        let builder = builder.default_policy(policy);
        let builder = if let Some(clock) = clock { builder.clock(clock.clone()) } else { builder };
        builder.build().expect("a host on the store of the test")
    }

    /// Runs something while nothing comes through to the store or from it: whoever waited for it would wait for ever.
    fn while_held<T>(&self, run: impl FnOnce() -> T) -> T {
        self.proxy.hold();
        let result = run();
        self.proxy.let_go();
        result
    }

    /// How many calls the store knows of, past the slow way.
    fn counted(&self) -> u64 {
        self.place.host(&long()).breaker("pay").inspect().expect("it can be looked at").calls
    }
}

/// What is counted stays in the window while the test runs.
fn long() -> Policy {
    Policy::new().window_ms(86_400_000)
}

fn succeed(breaker: &Breaker) {
    assert_eq!(breaker.call(|| Ok::<_, ()>(())), Ok(()));
}

pub fn healthy_calls_wait_for_nothing_between_looks_and_all_are_counted(address: &str) {
    const LOOKS: u64 = 3;
    let far = Far::at(address);
    let clock = Arc::new(ManualClock::new(1_800_000_000_000));
    let host = far.host(250, Some(&clock));
    let breaker = host.breaker("pay");
    for look in 1..=LOOKS {
        succeed(&breaker);
        assert_eq!(far.store.transactions(), (look, look - 1), "a look, and what was counted since the last one");
        far.while_held(|| (1..CALLS).for_each(|_| succeed(&breaker)));
        assert_eq!(far.store.transactions(), (look, look - 1), "{CALLS} calls a look, and the store is asked nothing");
        clock.advance(Duration::from_millis(250));
    }
    drop((breaker, host));
    assert_eq!(far.counted(), LOOKS * CALLS);
}

pub fn healthy_calls_of_many_threads_go_on_while_it_says_nothing_and_all_are_counted(address: &str) {
    let far = Far::at(address);
    let host = far.host(LONG_MS, None);
    let breaker = host.breaker("pay");
    succeed(&breaker);
    far.while_held(|| {
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| (0..CALLS).for_each(|_| succeed(&breaker)));
            }
        });
    });
    assert_eq!(far.store.transactions(), (1, 0));
    drop((breaker, host));
    assert_eq!(far.counted(), THREADS * CALLS + 1);
}

pub fn an_acquire_is_bounded_however_long_it_takes_and_it_comes_back_by_itself(address: &str) {
    let separator = if address.contains('?') { '&' } else { '?' };
    let (through, proxy) = behind_proxy(&format!("{address}{separator}timeout=600ms"));
    let place = Place { address: through, ..Place::at(address) };
    let breaker = place.host(&Policy::new()).breaker("pay");
    let admitted = || matches!(breaker.acquire(), Ok(Decision::Proceed(_))).then_some(());
    until("the first look", admitted);
    proxy.hold();
    for _ in 0..3 {
        let error = breaker.acquire().expect_err("nothing comes through");
        assert!(matches!(error, BreakerError::Store(StoreError::Unavailable { .. })), "{error}");
    }
    proxy.let_go();
    until("it comes back", admitted);
}
