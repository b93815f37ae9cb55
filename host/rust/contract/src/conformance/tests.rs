//! The suite accepts the store in memory, and names the obligation that a broken store does not meet.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::store::{
    CommitOutcome, Cursor, FORGOTTEN, Key, Locked, MemoryStore, Observed, Page, Snapshot, Store, StoreError, Write,
};

#[test]
fn the_memory_store_meets_every_obligation() {
    let store = Arc::new(MemoryStore::new());
    assert_eq!(check(&|| store.clone()), []);
}

#[test]
fn obligations_have_names_of_their_own() {
    let names: HashSet<_> = obligations().iter().map(|obligation| obligation.name).collect();
    assert_eq!(names.len(), obligations().len());
}

/// How a store goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    ReadsLate,
    DoesNotCompare,
    LosesSome,
    Joins,
    FoldsCase,
    TrimsSpace,
    CutsAtNul,
    RepeatsVersions,
    RevivesRecords,
    SharesVersions,
    KeepsHistory,
    TurnsHistory,
    KeepsAll,
    HistoryLags,
    AddsWhenStale,
    StreamSkips,
    StreamRepeats,
    StreamOvertakes,
    DropsForgotten,
    ForgottenInHistory,
    ForgottenUnbounded,
    ListsRemoved,
    UnsortedList,
    LockWritesAtOnce,
    Expires,
    Eventual,
    Panics,
}

type Pair = (String, String);

struct Faulty {
    inner: MemoryStore,
    fault: Fault,
    before: Mutex<HashMap<Pair, Snapshot>>,
    removals: Mutex<HashMap<Pair, u64>>,
    kept: Mutex<Vec<(Pair, String)>>,
    written: Mutex<HashMap<Pair, Instant>>,
    /// The transitions that have their place in the stream, and are not yet visible.
    hidden: Mutex<HashSet<(String, String)>>,
    commits: AtomicU64,
}

fn pair(key: Key<'_>) -> Pair {
    (key.namespace.to_owned(), key.dependency.to_owned())
}

impl Faulty {
    fn new(fault: Fault) -> Arc<Self> {
        Arc::new(Faulty {
            inner: MemoryStore::new(),
            fault,
            before: Mutex::default(),
            removals: Mutex::default(),
            kept: Mutex::default(),
            written: Mutex::default(),
            hidden: Mutex::default(),
            commits: AtomicU64::new(0),
        })
    }

    /// The names under which this store keeps a record.
    fn names(&self, key: Key<'_>) -> Pair {
        let (namespace, dependency) = (key.namespace.to_owned(), key.dependency.to_owned());
        match self.fault {
            Fault::Joins => (String::new(), format!("{namespace}:{dependency}")),
            Fault::FoldsCase => (namespace, dependency.to_lowercase()),
            Fault::TrimsSpace => (namespace, dependency.trim_end_matches(' ').to_owned()),
            Fault::CutsAtNul => (namespace, dependency.split('\0').next().unwrap().to_owned()),
            Fault::RepeatsVersions => {
                let removals = self.removals.lock().unwrap().get(&pair(key)).copied().unwrap_or(0);
                (namespace, if removals == 0 { dependency } else { format!("{dependency} {removals}") })
            }
            _ => (namespace, dependency),
        }
    }

    /// Whether the last write is more than a second ago.
    fn expired(&self, key: Key<'_>) -> bool {
        self.written.lock().unwrap().get(&pair(key)).is_some_and(|at| at.elapsed() > Duration::from_secs(1))
    }

    /// The version that all missing records of a namespace share.
    fn shared_version(&self, namespace: &str) -> u64 {
        let removals = self.removals.lock().unwrap();
        removals.iter().filter(|((of, _), _)| of == namespace).map(|(_, count)| 10 * count).sum()
    }

    fn keep(&self, key: Key<'_>, transitions: &[String]) {
        self.kept.lock().unwrap().extend(transitions.iter().map(|transition| (pair(key), transition.clone())));
    }

    fn commit_one(&self, write: &Write<'_>) -> CommitOutcome {
        let (namespace, dependency) = self.names(write.key);
        let key = Key { namespace: &namespace, dependency: &dependency };
        let removal = write.data.is_none().then(|| pair(write.key));
        let mut write = Write { key, ..*write };
        let before = self.inner.load(key).unwrap();
        let number = self.commits.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            Fault::LosesSome if number % 7 == 6 && before.version == write.based_on => return CommitOutcome::Committed,
            Fault::DoesNotCompare | Fault::Eventual if before.version != write.based_on => {
                write.based_on = before.version;
                write.version = before.version + 1;
            }
            Fault::SharesVersions if before.data.is_none() && write.based_on == self.shared_version(&namespace) => {
                write.based_on = before.version;
            }
            Fault::AddsWhenStale if before.version != write.based_on => self.keep(key, write.transitions),
            Fault::KeepsHistory if write.data.is_none() => {
                self.keep(key, &self.inner.history(key, usize::MAX).unwrap());
            }
            Fault::KeepsAll => write.history = usize::MAX,
            Fault::DropsForgotten if write.data.is_none() => write.transitions = &[],
            Fault::ForgottenInHistory | Fault::ForgottenUnbounded if write.data.is_none() => {
                self.keep(key, write.transitions);
            }
            _ => {}
        }
        let names = write.transitions.iter().map(|transition| (dependency.clone(), transition.clone()));
        let late: Vec<_> = names.filter(|_| self.fault == Fault::StreamOvertakes && number % 5 == 4).collect();
        self.hidden.lock().unwrap().extend(late.clone());
        let outcome = self.inner.commit(&[write]).unwrap().remove(0);
        if !late.is_empty() {
            thread::sleep(Duration::from_millis(2));
            self.hidden.lock().unwrap().retain(|one| !late.contains(one));
        }
        if outcome == CommitOutcome::Committed {
            self.before.lock().unwrap().insert(pair(key), before);
            self.written.lock().unwrap().insert(pair(key), Instant::now());
            if let Some(removed) = removal {
                *self.removals.lock().unwrap().entry(removed).or_default() += 1;
            }
        }
        outcome
    }
}

impl Store for Faulty {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        assert!(self.fault != Fault::Panics, "this store panics");
        let (namespace, dependency) = self.names(key);
        if self.fault == Fault::Expires && self.expired(key) {
            return Ok(Snapshot::default());
        }
        if matches!(self.fault, Fault::ReadsLate | Fault::Eventual)
            && let Some(before) = self.before.lock().unwrap().remove(&pair(key))
        {
            return Ok(before);
        }
        let mut found = self.inner.load(Key { namespace: &namespace, dependency: &dependency })?;
        if self.fault == Fault::SharesVersions && found.data.is_none() {
            found.version = self.shared_version(&namespace);
        }
        Ok(found)
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        Ok(writes.iter().map(|write| self.commit_one(write)).collect())
    }

    fn lock(&self) -> Result<Option<Box<dyn Locked + '_>>, StoreError> {
        struct AtOnce<'a>(&'a Faulty);
        impl Locked for AtOnce<'_> {
            fn load(&mut self, key: Key<'_>) -> Result<Snapshot, StoreError> {
                self.0.load(key)
            }
            fn commit(&mut self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
                self.0.commit(writes)
            }
            fn finish(self: Box<Self>) -> Result<(), StoreError> {
                Ok(())
            }
        }
        let locks = self.fault == Fault::LockWritesAtOnce;
        Ok(locks.then(|| Box::new(AtOnce(self)) as Box<dyn Locked + '_>))
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        let mut list = self.inner.list(namespace)?;
        match self.fault {
            Fault::UnsortedList => list.reverse(),
            Fault::ListsRemoved => {
                list.extend(self.removals.lock().unwrap().keys().map(|(_, dependency)| dependency.clone()))
            }
            _ => {}
        }
        Ok(list)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        let (namespace, dependency) = self.names(key);
        let key = Key { namespace: &namespace, dependency: &dependency };
        let mut history = self.inner.history(key, limit)?;
        if self.fault != Fault::ForgottenUnbounded {
            let kept = self.kept.lock().unwrap();
            history.extend(kept.iter().filter(|(of, _)| *of == pair(key)).map(|(_, transition)| transition.clone()));
        }
        match self.fault {
            Fault::TurnsHistory => history.reverse(),
            Fault::HistoryLags => drop(history.pop()),
            _ => {}
        }
        Ok(history)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        let mut page = self.inner.transitions(namespace, after, limit)?;
        match self.fault {
            Fault::StreamSkips if page.transitions.len() > 1 => drop(page.transitions.pop()),
            Fault::StreamRepeats if !matches!(after, Cursor::End) => page.next = after,
            Fault::StreamOvertakes => {
                let hidden = self.hidden.lock().unwrap();
                page.transitions.retain(|seen| !hidden.contains(&(seen.dependency.clone(), seen.transition.clone())));
            }
            Fault::ForgottenUnbounded if after == Cursor::Start => {
                let kept = self.kept.lock().unwrap();
                let gone = kept.iter().filter(|((of, _), _)| of == namespace).rev().skip(FORGOTTEN);
                page.transitions.extend(gone.map(|((_, dependency), transition)| Observed {
                    dependency: dependency.clone(),
                    transition: transition.clone(),
                }));
            }
            _ => {}
        }
        Ok(page)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        if self.fault == Fault::RevivesRecords {
            for dependency in self.inner.list(namespace)? {
                let key = Key { namespace, dependency: &dependency };
                let version = self.inner.load(key)?.version;
                let write = Write { key, based_on: version, version, data: None, transitions: &[], history: 0 };
                self.inner.commit(&[write])?;
            }
            return Ok(());
        }
        self.inner.remove_namespace(namespace)
    }

    fn compact(&self, namespace: &str) -> Result<(), StoreError> {
        self.inner.compact(namespace)
    }
}

fn broken(open: &Open<'_>) -> Vec<&'static str> {
    check(open).into_iter().map(|broken| broken.obligation).collect()
}

#[test]
fn a_broken_store_is_refused_by_the_name_of_the_obligation() {
    let cases = [
        (Fault::ReadsLate, "a load returns the last commit, also after reopening"),
        (Fault::DoesNotCompare, "a stale write changes nothing and returns the record"),
        (Fault::DoesNotCompare, "of concurrent writes on one version exactly one is done"),
        (Fault::LosesSome, "no acknowledged write is lost"),
        (Fault::Joins, "namespace and dependency are never joined"),
        (Fault::FoldsCase, "names are compared byte for byte"),
        (Fault::TrimsSpace, "names are compared byte for byte"),
        (Fault::CutsAtNul, "names are compared byte for byte"),
        (Fault::RepeatsVersions, "versions go on after a removal"),
        (Fault::RevivesRecords, "versions go on after a namespace is removed"),
        // One version for all that is missing, as one counter of a namespace would give.
        (Fault::SharesVersions, "a removal leaves the versions of other records alone"),
        (Fault::KeepsHistory, "a removal removes the history"),
        (Fault::TurnsHistory, "history is in order and comes back as it was written"),
        (Fault::KeepsAll, "history keeps the newest transitions"),
        (Fault::HistoryLags, "a commit is visible whole or not at all"),
        (Fault::AddsWhenStale, "a stale write changes nothing and returns the record"),
        (Fault::StreamSkips, "the stream shows each transition once, in commit order"),
        (Fault::StreamRepeats, "a position outlives the transitions before it, and reopening"),
        (Fault::StreamOvertakes, "a reader of the stream misses no transition"),
        (Fault::DropsForgotten, "transitions of a removal are in the stream alone"),
        (Fault::ForgottenInHistory, "transitions of a removal are in the stream alone"),
        (Fault::ForgottenUnbounded, "the stream keeps the newest transitions of removals"),
        (Fault::ListsRemoved, "a list holds the records of its namespace, sorted by bytes"),
        (Fault::UnsortedList, "a list holds the records of its namespace, sorted by bytes"),
        (Fault::LockWritesAtOnce, "a lock shows its writes outside once finished, and never if dropped"),
        (Fault::LockWritesAtOnce, "a lock keeps other writers out"),
        (Fault::Expires, "an untouched record stays"),
        // Such as Workers KV: a read may be old, and a write does not compare.
        (Fault::Eventual, "a load returns the last commit, also after reopening"),
        (Fault::Eventual, "a stale write changes nothing and returns the record"),
        (Fault::Eventual, "of concurrent writes on one version exactly one is done"),
        (Fault::Panics, "a load returns the last commit, also after reopening"),
    ];
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let found: Vec<Vec<&str>> = thread::scope(|scope| {
        let checks = cases.map(|(fault, _)| {
            scope.spawn(move || {
                let store = Faulty::new(fault);
                broken(&|| store.clone())
            })
        });
        checks.into_iter().map(|check| check.join().unwrap()).collect()
    });
    std::panic::set_hook(hook);
    for ((fault, obligation), names) in cases.into_iter().zip(found) {
        assert!(names.contains(&obligation), "{fault:?} breaks {obligation:?}, and the suite named {names:?}");
    }
}

#[test]
fn a_store_that_is_empty_when_reopened_is_not_durable() {
    let names = broken(&|| Arc::new(MemoryStore::new()));
    assert!(names.contains(&"a load returns the last commit, also after reopening"), "{names:?}");
}
