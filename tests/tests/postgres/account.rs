//! Failures reported by many threads, and what the record says of them afterwards.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use halfopen::{BreakerError, Decision, Outcome, Policy, StoreError, Window};
use halfopen_tests::breakers::{policy, until};
use halfopen_tests::herd::Place;

/// What reporters were told.
#[derive(Debug, Default)]
pub struct Account {
    pub acknowledged: AtomicU64,
    pub failed: AtomicU64,
    pub in_doubt: AtomicU64,
}

/// Never trips; what is reported stays in the window.
pub fn counting() -> Policy {
    Policy { consecutive_failures: 0, window: Window::Ms(86_400_000), ..policy() }
}

/// Lets threads report failures, each as a host of its own, while something is done; then the record is to hold what was
/// acknowledged, and nothing that was said to have failed.
pub fn keep(place: &Place, threads: usize, meanwhile: impl FnOnce(&Account)) -> Account {
    let host = || place.host(&counting()).breaker("pay");
    let permit = match host().acquire() {
        Ok(Decision::Proceed(guard)) => guard.into_permit(),
        other => panic!("{other:?}"),
    };
    let (account, over) = (Account::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..threads {
            let breaker = host();
            let (account, over) = (&account, &over);
            scope.spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    let count = match breaker.report(permit, Outcome::Failure, None) {
                        Ok(receipt) if receipt.is_applied() => &account.acknowledged,
                        Ok(receipt) => panic!("{receipt:?}"),
                        Err(BreakerError::Store(StoreError::InDoubt { .. })) => &account.in_doubt,
                        Err(BreakerError::Store(StoreError::Unavailable { .. })) => &account.failed,
                        Err(error) => panic!("{error}"),
                    };
                    count.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let _over = Over(&over);
        account.go_on("work has begun");
        meanwhile(&account);
        account.go_on("work goes on");
    });
    let counted = until("it can be looked at", || host().inspect().ok()).failures;
    let [acknowledged, in_doubt] = [&account.acknowledged, &account.in_doubt].map(|count| count.load(Ordering::SeqCst));
    assert!(
        (acknowledged..=acknowledged + in_doubt).contains(&counted),
        "{counted} failures are counted, and these were told: {account:?}"
    );
    account
}

impl Account {
    /// Waits until some more are acknowledged.
    pub fn go_on(&self, what: &str) {
        let before = self.acknowledged.load(Ordering::SeqCst);
        until(what, || (self.acknowledged.load(Ordering::SeqCst) >= before + 20).then_some(()));
    }

    /// Everybody was told that it was done.
    pub fn is_flawless(&self) {
        let flaws = self.failed.load(Ordering::SeqCst) + self.in_doubt.load(Ordering::SeqCst);
        assert_eq!(flaws, 0, "{self:?}");
    }
}

/// Ends the threads also where the test fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
