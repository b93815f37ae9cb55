//! A counter that several stores raise at once, and the number that it must show afterwards.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use halfopen_contract::store::{CommitOutcome, Key, Store, StoreError, Write};
use halfopen_postgres::PostgresStore;

use crate::patience::until;

const KEY: Key<'static> = Key { namespace: "account", dependency: "pay" };

/// The results of the commits.
#[derive(Debug, Default)]
pub struct Account {
    pub acknowledged: AtomicU64,
    pub failed: AtomicU64,
    pub in_doubt: AtomicU64,
}

/// Raises the counter from several threads, each with a store of its own, during `meanwhile`. Then the counter holds
/// each acknowledged commit and no failed one.
pub fn keep(address: &str, threads: usize, meanwhile: impl FnOnce(&Account)) -> Account {
    let open = || PostgresStore::open(address).unwrap();
    let before = count(&open()).unwrap().1;
    let (account, over) = (Account::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        for _ in 0..threads {
            let store = open();
            let (account, over) = (&account, &over);
            scope.spawn(move || {
                while !over.load(Ordering::SeqCst) {
                    let counter = match raise(&store) {
                        Ok(true) => &account.acknowledged,
                        // Another thread was first.
                        Ok(false) => continue,
                        Err(StoreError::InDoubt { .. }) => &account.in_doubt,
                        Err(StoreError::Unavailable { .. }) => &account.failed,
                        Err(error) => panic!("{error}"),
                    };
                    counter.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let _over = Over(&over);
        account.go_on("work has begun");
        meanwhile(&account);
        account.go_on("work goes on");
    });
    let counted = until("the counter can be read", || count(&open()).ok()).1 - before;
    let [acknowledged, in_doubt] = [&account.acknowledged, &account.in_doubt].map(|count| count.load(Ordering::SeqCst));
    assert!((acknowledged..=acknowledged + in_doubt).contains(&counted), "the counter shows {counted}: {account:?}");
    account
}

/// The version and the counter.
fn count(store: &PostgresStore) -> Result<(u64, u64), StoreError> {
    let found = store.load(KEY)?;
    let counted = found.data.map_or(0, |data| u64::from_be_bytes(data.try_into().expect("eight bytes")));
    Ok((found.version, counted))
}

/// Whether this store raised the counter.
fn raise(store: &PostgresStore) -> Result<bool, StoreError> {
    let (version, counted) = count(store)?;
    let data = (counted + 1).to_be_bytes();
    let write =
        Write { key: KEY, based_on: version, version: version + 1, data: Some(&data), transitions: &[], history: 1 };
    Ok(store.commit(&[write])? == [CommitOutcome::Committed])
}

impl Account {
    /// Waits for 20 more acknowledged commits.
    pub fn go_on(&self, what: &str) {
        let before = self.acknowledged.load(Ordering::SeqCst);
        until(what, || (self.acknowledged.load(Ordering::SeqCst) >= before + 20).then_some(()));
    }

    /// Checks that no commit failed or was left in doubt.
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
