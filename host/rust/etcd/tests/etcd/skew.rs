//! Machines with wrong clocks.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use halfopen_contract::store::{CommitOutcome, Key, Snapshot, Store as _, StoreError, Write};
use halfopen_contract::time::{Clock, SystemClock};
use halfopen_etcd::EtcdStore;

use super::options;
use super::server::Cluster;

const KEY: Key<'static> = Key { namespace: "n", dependency: "a" };

/// A clock that is off by a number of ms.
struct Off(Arc<AtomicI64>);

impl Clock for Off {
    fn now(&self) -> u64 {
        SystemClock.now().saturating_add_signed(self.0.load(Ordering::SeqCst))
    }
}

/// A store on a machine whose clock is off, and its offset.
fn off_by(address: &str, offset: i64) -> (EtcdStore, Arc<AtomicI64>) {
    let offset = Arc::new(AtomicI64::new(offset));
    let clock = Arc::new(Off(offset.clone()));
    (EtcdStore::open_with(&options(address), clock).expect("it opens"), offset)
}

fn put(store: &EtcdStore, based_on: u64) -> Result<Vec<CommitOutcome>, StoreError> {
    let write = Write { key: KEY, based_on, version: based_on + 1, data: Some(b"x"), transitions: &[], history: 1 };
    store.commit(&[write])
}

fn at(snapshot: &Snapshot) -> u64 {
    snapshot.at.expect("this store tells the time")
}

/// The reason of a refusal.
fn refusal<T: std::fmt::Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Err(StoreError::Denied { why, .. }) => why,
        other => panic!("a clock that is off was served: {other:?}"),
    }
}

pub fn a_wrong_clock_is_refused_with_its_offset() {
    let cluster = Cluster::single(&[]);
    let address = cluster.address(&[0], "skew?max_skew=1s");
    let (right, _) = off_by(&address, 0);
    put(&right, 0).expect("a right clock is served");
    for (offset, word) in [(1_500, "ahead of"), (-1_500, "behind"), (86_400_000, "ahead of"), (-86_400_000, "behind")] {
        let (wrong, _) = off_by(&address, offset);
        for why in [refusal(wrong.load(KEY)), refusal(put(&wrong, 1))] {
            assert!(why.contains("the clock of this machine") && why.contains(word), "{offset}: {why}");
            let by: i64 = why.split("at least ").nth(1).and_then(|rest| rest.split(' ').next()?.parse().ok()).unwrap();
            assert!(by >= 500 && by <= offset.abs() + 1, "{offset}: {why}");
        }
        assert_eq!(right.load(KEY).expect("a right clock is served").version, 1);
    }
}

pub fn a_clock_within_the_bound_serves_and_turns_no_time_back() {
    let cluster = Cluster::single(&[]);
    let address = cluster.address(&[0], "within?max_skew=10s");
    let ((ahead, _), (behind, _)) = (off_by(&address, 3_000), off_by(&address, -3_000));
    let mut latest = 0;
    for version in 0..10 {
        let store = if version % 2 == 0 { &ahead } else { &behind };
        let now = at(&store.load(KEY).expect("it is within the bound"));
        assert!(now >= latest, "time turned back by {} ms", latest - now);
        latest = now;
        assert_eq!(put(store, version), Ok(vec![CommitOutcome::Committed]));
    }
}

pub fn a_clock_that_steps_is_refused_until_it_is_right_again() {
    let cluster = Cluster::single(&[]);
    let (store, offset) = off_by(&cluster.address(&[0], "step?max_skew=1s"), 0);
    put(&store, 0).expect("a right clock is served");
    for step in [5_000, -5_000] {
        offset.store(step, Ordering::SeqCst);
        refusal(put(&store, 1));
        refusal(store.load(KEY));
        offset.store(0, Ordering::SeqCst);
        assert_eq!(store.load(KEY).expect("it is right again").version, 1, "nothing was written meanwhile");
    }
}

pub fn a_record_from_the_future_leaves_a_right_clock_alone() {
    let cluster = Cluster::single(&[]);
    // Let through by a bound that is too wide, as if all clocks were set back since.
    let (ahead, _) = off_by(&cluster.address(&[0], "future?max_skew=3600s"), 600_000);
    put(&ahead, 0).expect("it is within its bound");
    let (right, _) = off_by(&cluster.address(&[0], "future?max_skew=1s"), 0);
    let now = at(&right.load(KEY).expect("a right clock is served"));
    assert!(now < SystemClock.now() + 60_000, "it was carried along");
    assert_eq!(put(&right, 1), Ok(vec![CommitOutcome::Committed]));
}
