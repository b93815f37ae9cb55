//! Group commit, through a host.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use crate::store::{CommitOutcome, Cursor, Key, Locked, MemoryStore, Page, Snapshot, Store, StoreError, Write};
use crate::tests::{Request, Watched, down};
use crate::{BreakerError, Decision, Host, Policy};
use crate::{Mode, Outcome, State};

/// Whether a store fails, and a property of its commits.
#[derive(Default)]
struct Seen {
    fails: AtomicBool,
    /// A commit had two writes of one record.
    twice: AtomicBool,
}

/// A store whose commits take this time.
fn slow(takes: Duration) -> (Arc<Watched>, Arc<Seen>) {
    let seen: Arc<Seen> = Arc::default();
    let noted = seen.clone();
    let store = Watched::with(move |request| {
        let Request::Commit(writes) = request else { return Ok(()) };
        let keys: std::collections::HashSet<Key<'_>> = writes.iter().map(|write| write.key).collect();
        noted.twice.fetch_or(keys.len() < writes.len(), Ordering::SeqCst);
        std::thread::sleep(takes);
        if noted.fails.load(Ordering::SeqCst) { Err(down()) } else { Ok(()) }
    });
    (Arc::new(store), seen)
}

const LONG: Duration = Duration::from_millis(20);

/// Runs a closure on this number of threads at once.
fn together<T: Send>(threads: usize, run: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let start = Barrier::new(threads);
    let run = |number| {
        start.wait();
        run(number)
    };
    std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads)
            .map(|number| {
                scope.spawn({
                    let run = &run;
                    move || run(number)
                })
            })
            .collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    })
}

fn never_trips() -> Policy {
    Policy::new().consecutive_failures(0).failure_rate_off()
}

#[test]
fn operations_that_wait_share_a_commit_and_each_counts() {
    let (store, _) = slow(LONG);
    let host = Host::builder().shared_store(store.clone()).default_policy(never_trips()).build().unwrap();
    let breaker = host.breaker("a");
    let permit = match breaker.acquire().unwrap() {
        Decision::Proceed(guard) => guard.into_permit(),
        other => panic!("{other:?}"),
    };
    let receipts = together(32, |_| breaker.report(permit, Outcome::Failure).unwrap());
    assert!(receipts.iter().all(|receipt| receipt.is_applied()));
    assert_eq!(breaker.inspect().unwrap().failures, 32);
    let (_, commits) = store.since();
    assert!(commits < 32, "{commits} commits for 32 reports: none was shared");
}

#[test]
fn of_many_acquires_at_once_one_probes() {
    for _ in 0..5 {
        let host = Host::builder().store(MemoryStore::new()).build().unwrap();
        let breaker = host.breaker("a");
        breaker.force(Mode::Open, None, "").unwrap();
        breaker.force(Mode::None, None, "").unwrap();
        let decisions = together(16, |_| breaker.acquire().unwrap());
        let probes = decisions.iter().filter(|decision| matches!(decision, Decision::Probe(_))).count();
        assert_eq!(probes, 1, "{decisions:?}");
    }
}

#[test]
fn all_operations_of_a_commit_that_fails_get_its_error() {
    let (store, seen) = slow(LONG);
    let host = Host::builder().shared_store(store.clone()).build().unwrap();
    seen.fails.store(true, Ordering::SeqCst);
    let results = together(8, |number| host.breaker(number.to_string()).force(Mode::Open, None, ""));
    assert!(results.iter().all(|result| matches!(result, Err(BreakerError::Store(_)))), "{results:?}");
    seen.fails.store(false, Ordering::SeqCst);
    assert_eq!(host.list().unwrap(), Vec::<String>::new());
    assert_eq!(host.breaker("0").inspect().unwrap().state, State::Closed);
    assert!(host.breaker("0").force(Mode::Open, None, "").is_ok(), "the group serves on");
}

#[test]
fn one_that_fails_alone_does_not_fail_its_neighbours() {
    let host = Host::builder().shared_store(slow(LONG).0).build().unwrap();
    let results = together(12, |number| match number % 3 {
        0 => host.breaker("a\n").force(Mode::Open, None, ""),
        1 => host.breaker("a").force(Mode::Open, None, ""),
        _ => host.breaker("b").force(Mode::Closed, None, ""),
    });
    for (number, result) in results.iter().enumerate() {
        assert_eq!(result.is_err(), number % 3 == 0, "{number}: {result:?}");
    }
}

#[test]
fn a_removal_among_others_takes_the_history_with_it() {
    let (store, seen) = slow(LONG);
    let host = Host::builder().shared_store(store.clone()).build().unwrap();
    let breaker = host.breaker("a");
    for _ in 0..10 {
        together(6, |number| match number {
            0 => breaker.forget("").map(drop),
            _ => breaker.reset("").map(drop),
        })
        .into_iter()
        .for_each(|result| result.unwrap());
        let history = breaker.history(100).unwrap();
        assert!(history.len() <= 5 || history.windows(2).all(|pair| pair[1].epoch == pair[0].epoch + 1), "{history:?}");
        breaker.forget("").unwrap();
        assert_eq!(breaker.history(100).unwrap(), []);
    }
    assert!(!seen.twice.load(Ordering::SeqCst), "a write rested on one that may lose its race, in the same commit");
}

#[test]
fn fifty_hosts_that_report_at_once_are_all_counted() {
    let (store, _) = slow(Duration::from_millis(2));
    let hosts: Vec<Host> = (0..50)
        .map(|_| Host::builder().shared_store(store.clone()).default_policy(never_trips()).build().unwrap())
        .collect();
    let permit = match hosts[0].breaker("a").acquire().unwrap() {
        Decision::Proceed(guard) => guard.into_permit(),
        other => panic!("{other:?}"),
    };
    let receipts = together(50, |number| hosts[number].breaker("a").report(permit, Outcome::Failure));
    assert!(receipts.iter().all(|receipt| receipt.as_ref().is_ok_and(|receipt| receipt.is_applied())), "{receipts:?}");
    assert_eq!(hosts[0].breaker("a").inspect().unwrap().failures, 50);
}

#[test]
fn hosts_that_race_for_a_store_that_cannot_lock_lose_nothing() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let open = || Host::builder().shared_store(store.clone()).default_policy(never_trips()).build().unwrap();
    count_from(&[open(), open(), open(), open()]);
}

#[cfg(feature = "sqlite")]
#[test]
fn hosts_that_race_for_one_file_lose_nothing() {
    use crate::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};

    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("a.db");
    let options = SqliteOptions { synchronous: Synchronous::Normal, ..SqliteOptions::default() };
    let open = || {
        let store = SqliteStore::open_with(&path, options.clone()).unwrap();
        Host::builder().store(store).default_policy(never_trips()).build().unwrap()
    };
    count_from(&[open(), open(), open(), open()]);
}

/// 16 threads over these hosts report 25 failures each.
fn count_from(hosts: &[Host]) {
    let permit = match hosts[0].breaker("a").acquire().unwrap() {
        Decision::Proceed(guard) => guard.into_permit(),
        other => panic!("{other:?}"),
    };
    together(16, |number| {
        let breaker = hosts[number % hosts.len()].breaker("a");
        for _ in 0..25 {
            assert!(breaker.report(permit, Outcome::Failure).unwrap().is_applied());
        }
    });
    assert_eq!(hosts[0].breaker("a").inspect().unwrap().failures, 400);
}

/// A lock whose end fails.
struct Unfinished(MemoryStore);

impl Store for Unfinished {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.0.load(key)
    }
    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        let now = self.0.load(writes[0].key)?;
        Ok(writes.iter().map(|_| CommitOutcome::Stale(now.clone())).collect())
    }
    fn lock(&self) -> Result<Option<Box<dyn Locked + '_>>, StoreError> {
        struct Lock<'a>(&'a MemoryStore);
        impl Locked for Lock<'_> {
            fn load(&mut self, key: Key<'_>) -> Result<Snapshot, StoreError> {
                self.0.load(key)
            }
            fn commit(&mut self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
                Ok(vec![CommitOutcome::Committed; writes.len()])
            }
            fn finish(self: Box<Self>) -> Result<(), StoreError> {
                Err(StoreError::Unavailable { place: "test".to_owned(), why: "the disk is full".to_owned() })
            }
        }
        Ok(Some(Box::new(Lock(&self.0))))
    }
    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.0.list(namespace)
    }
    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        self.0.history(key, limit)
    }
    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.0.transitions(namespace, after, limit)
    }
    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.0.remove_namespace(namespace)
    }
}

#[test]
fn a_commit_whose_end_fails_is_never_reported_as_done() {
    let host = Host::builder().store(Unfinished(MemoryStore::new())).build().unwrap();
    let result = host.breaker("a").force(Mode::Open, None, "");
    assert!(matches!(result, Err(BreakerError::Store(StoreError::Unavailable { .. }))), "{result:?}");
}
