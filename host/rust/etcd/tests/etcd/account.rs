//! A counter that several stores raise at once, and the number that it must show afterwards.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use halfopen_contract::store::{CommitOutcome, Key, Store as _, StoreError, Write};
use halfopen_etcd::EtcdStore;

use super::patience::until;
use super::store;

const KEY: Key<'static> = Key { namespace: "account", dependency: "pay" };

/// The results of the commits.
#[derive(Debug, Default)]
pub struct Account {
    acknowledged: AtomicU64,
    failed: AtomicU64,
    in_doubt: AtomicU64,
}

/// Raises the counter from several threads, one for each address, during `meanwhile`. Then the counter holds each
/// acknowledged commit and no failed one.
pub fn keep(addresses: &[String], meanwhile: impl FnOnce(&Account)) {
    let (account, over) = (Account::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        for address in addresses {
            let store = store(address);
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
        account.go_on();
        meanwhile(&account);
        account.go_on();
    });
    let counted = until("the counter can be read", || count(&store(&addresses[0])).ok()).1;
    let [acknowledged, in_doubt] = [&account.acknowledged, &account.in_doubt].map(|count| count.load(Ordering::SeqCst));
    println!("{account:?}");
    assert!((acknowledged..=acknowledged + in_doubt).contains(&counted), "the counter shows {counted}: {account:?}");
}

/// The version and the counter.
fn count(store: &EtcdStore) -> Result<(u64, u64), StoreError> {
    let found = store.load(KEY)?;
    let counted = found.data.map_or(0, |data| u64::from_be_bytes(data.try_into().expect("eight bytes")));
    Ok((found.version, counted))
}

/// Whether this store raised the counter.
fn raise(store: &EtcdStore) -> Result<bool, StoreError> {
    let (version, counted) = count(store)?;
    let data = (counted + 1).to_be_bytes();
    let write =
        Write { key: KEY, based_on: version, version: version + 1, data: Some(&data), transitions: &[], history: 1 };
    Ok(store.commit(&[write])? == [CommitOutcome::Committed])
}

impl Account {
    /// Waits for 30 more acknowledged commits.
    pub fn go_on(&self) {
        let before = self.acknowledged.load(Ordering::SeqCst);
        until("work goes on", || (self.acknowledged.load(Ordering::SeqCst) >= before + 30).then_some(()));
    }
}

/// Ends the threads also where the test fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}
