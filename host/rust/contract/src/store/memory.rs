use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{CommitOutcome, Cursor, FORGOTTEN, Key, Observed, Page, REMOVED, Snapshot, Store, StoreError, Write};

/// A store in the memory of this process. It ends with the process.
#[derive(Debug, Default)]
pub struct MemoryStore {
    contents: Mutex<Contents>,
}

#[derive(Debug, Default)]
struct Contents {
    namespaces: HashMap<String, Namespace>,
    /// The number of the last transition, over all namespaces.
    last_number: u64,
}

#[derive(Debug, Default)]
struct Namespace {
    /// The version of the missing records that have none of their own.
    floor: u64,
    records: BTreeMap<String, Record>,
    /// The transitions of removals, with their dependencies.
    forgotten: VecDeque<(u64, String, String)>,
}

#[derive(Debug, Default)]
struct Record {
    version: u64,
    data: Option<Vec<u8>>,
    history: VecDeque<(u64, String)>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        // No code in this file panics in the middle of a change.
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Namespace {
    fn version(&self, dependency: &str) -> u64 {
        self.records.get(dependency).map_or(self.floor, |record| record.version)
    }

    fn load(&self, dependency: &str) -> Snapshot {
        let data = self.records.get(dependency).and_then(|record| record.data.clone());
        Snapshot { version: self.version(dependency), data, at: None }
    }

    fn write(&mut self, write: &Write<'_>, last_number: &mut u64) -> CommitOutcome {
        let dependency = write.key.dependency;
        if self.version(dependency) != write.based_on {
            return CommitOutcome::Stale(self.load(dependency));
        }
        let numbered = write.transitions.iter().map(|transition| {
            *last_number += 1;
            (*last_number, transition.clone())
        });
        let record = match self.records.get_mut(dependency) {
            Some(record) => record,
            None => self.records.entry(dependency.to_owned()).or_default(),
        };
        record.version = write.version;
        record.data = write.data.map(<[u8]>::to_vec);
        if write.data.is_some() {
            record.history.extend(numbered);
            keep_newest(&mut record.history, write.history);
        } else {
            record.history.clear();
            self.forgotten.extend(numbered.map(|(number, transition)| (number, dependency.to_owned(), transition)));
            keep_newest(&mut self.forgotten, FORGOTTEN);
        }
        CommitOutcome::Committed
    }

    /// The transitions after a number, in the order of their commits.
    fn after(&self, number: u64) -> Vec<(u64, &str, &str)> {
        let forgotten = self.forgotten.iter().map(|(n, dependency, text)| (*n, dependency.as_str(), text.as_str()));
        let mut newer: Vec<_> = forgotten.rev().take_while(|(n, ..)| *n > number).collect();
        for (dependency, record) in &self.records {
            let history = record.history.iter().rev().take_while(|(n, _)| *n > number);
            newer.extend(history.map(|(n, transition)| (*n, dependency.as_str(), transition.as_str())));
        }
        newer.sort_unstable();
        newer
    }
}

fn keep_newest<T>(list: &mut VecDeque<T>, most: usize) {
    list.drain(..list.len().saturating_sub(most));
}

impl Store for MemoryStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        let contents = self.contents();
        let namespace = contents.namespaces.get(key.namespace);
        Ok(namespace.map_or_else(Snapshot::default, |namespace| namespace.load(key.dependency)))
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        let Contents { namespaces, last_number } = &mut *self.contents();
        let write = |write: &Write<'_>| {
            let namespace = match namespaces.get_mut(write.key.namespace) {
                Some(namespace) => namespace,
                None => namespaces.entry(write.key.namespace.to_owned()).or_default(),
            };
            namespace.write(write, last_number)
        };
        Ok(writes.iter().map(write).collect())
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        let contents = self.contents();
        let records = contents.namespaces.get(namespace).map(|namespace| &namespace.records).into_iter().flatten();
        Ok(records.filter(|(_, record)| record.data.is_some()).map(|(dependency, _)| dependency.clone()).collect())
    }

    fn namespaces(&self) -> Result<Vec<String>, StoreError> {
        let contents = self.contents();
        let used =
            contents.namespaces.iter().filter(|(_, all)| all.records.values().any(|record| record.data.is_some()));
        let mut names: Vec<String> = used.map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        Ok(names)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        let contents = self.contents();
        let record = contents.namespaces.get(key.namespace).and_then(|namespace| namespace.records.get(key.dependency));
        let Some(Record { history, .. }) = record else { return Ok(Vec::new()) };
        let first = history.len().saturating_sub(limit);
        Ok(history.range(first..).map(|(_, transition)| transition.clone()).collect())
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        let contents = self.contents();
        let after = match after {
            Cursor::Start => 0,
            Cursor::After(number) => number,
            Cursor::End => contents.last_number,
        };
        let mut newer = contents.namespaces.get(namespace).map_or_else(Vec::new, |namespace| namespace.after(after));
        newer.truncate(limit);
        let next = Cursor::After(newer.last().map_or(after, |(number, ..)| *number));
        let observed = |(_, dependency, transition): (u64, &str, &str)| Observed {
            dependency: dependency.to_owned(),
            transition: transition.to_owned(),
        };
        Ok(Page { transitions: newer.into_iter().map(observed).collect(), next })
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        if let Some(Namespace { floor, records, forgotten }) = self.contents().namespaces.get_mut(namespace) {
            // One above the highest, so that a write based on a removed record is stale.
            let above = records.values().map(|record| record.version.saturating_add(1)).max().unwrap_or(0);
            *floor = above.max(*floor);
            records.clear();
            forgotten.clear();
        }
        Ok(())
    }

    fn compact(&self, namespace: &str) -> Result<(), StoreError> {
        if let Some(Namespace { floor, records, .. }) = self.contents().namespaces.get_mut(namespace) {
            let removed = records.values().filter(|record| record.data.is_none());
            let mut versions: Vec<u64> = removed.map(|record| record.version).collect();
            versions.sort_unstable_by(|one, other| other.cmp(one));
            *floor = versions.get(REMOVED).copied().unwrap_or(0).max(*floor);
            records.retain(|_, record| record.data.is_some() || record.version > *floor);
        }
        Ok(())
    }
}
