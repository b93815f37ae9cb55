//! Local admission, through hosts on a manual clock and a store that counts.

mod cached_decisions;
mod counts;
mod refusals;
mod registry;

use std::sync::Arc;
use std::time::Duration;

use super::atomic::Ordering::SeqCst;
use crate::ManualClock;
use crate::tests::Watched;
use crate::{Breaker, CallError, Decision, Host, Policy};

const MS: Duration = Duration::from_millis(1);

/// A machine: a store and a clock, for any number of processes.
struct Machine {
    store: Arc<Watched>,
    clock: Arc<ManualClock>,
    policy: Policy,
}

impl Machine {
    fn new(policy: Policy) -> Self {
        Machine { store: Arc::default(), clock: Arc::new(ManualClock::new(1_000_000)), policy }
    }

    fn process(&self) -> Host {
        let builder = Host::builder().shared_store(self.store.clone()).clock(self.clock.clone()).seed(1);
        builder.default_policy(self.policy.clone()).build().unwrap()
    }

    /// Advances both clocks.
    fn advance(&self, ms: u64) {
        self.clock.advance(Duration::from_millis(ms));
    }
}

fn plain() -> Policy {
    Policy::new().jitter_percent(0)
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

/// The calls and the failures in the store, as another process sees them.
fn counted(machine: &Machine) -> (u64, u64) {
    let inspection = machine.process().breaker("a").inspect().unwrap();
    (inspection.calls, inspection.failures)
}
