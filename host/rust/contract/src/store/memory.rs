use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{CommitOutcome, Cursor, Key, Observed, Page, Snapshot, Store, StoreError, Write};

/// A store in this process's memory, gone with it.
#[derive(Debug, Default)]
pub struct MemoryStore {
    shelf: Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    namespaces: HashMap<String, Namespace>,
    /// The number of the last transition, over all namespaces.
    counted: u64,
}

#[derive(Debug, Default)]
struct Namespace {
    /// At least as high as any version that a record had of which nothing is kept.
    floor: u64,
    records: BTreeMap<String, Record>,
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

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // Nothing in here panics half-way through a change.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn record(&self, key: Key<'_>) -> Option<&Record> {
        self.namespaces.get(key.namespace)?.records.get(key.dependency)
    }

    fn load(&self, key: Key<'_>) -> Snapshot {
        let Some(namespace) = self.namespaces.get(key.namespace) else { return Snapshot::default() };
        match namespace.records.get(key.dependency) {
            Some(record) => Snapshot { version: record.version, data: record.data.clone(), at: None },
            None => Snapshot { version: namespace.floor, data: None, at: None },
        }
    }

    fn version(&self, key: Key<'_>) -> u64 {
        let Some(namespace) = self.namespaces.get(key.namespace) else { return 0 };
        namespace.records.get(key.dependency).map_or(namespace.floor, |record| record.version)
    }

    fn write(&mut self, write: &Write<'_>) -> CommitOutcome {
        let key = write.key;
        if self.version(key) != write.based_on {
            return CommitOutcome::Stale(self.load(key));
        }
        if !self.namespaces.contains_key(key.namespace) {
            self.namespaces.insert(key.namespace.to_owned(), Namespace::default());
        }
        let Some(namespace) = self.namespaces.get_mut(key.namespace) else { return CommitOutcome::Committed };
        if !namespace.records.contains_key(key.dependency) {
            namespace.records.insert(key.dependency.to_owned(), Record::default());
        }
        let Some(record) = namespace.records.get_mut(key.dependency) else { return CommitOutcome::Committed };
        record.version = write.version;
        record.data = write.data.map(<[u8]>::to_vec);
        if write.data.is_none() {
            record.history.clear();
            return CommitOutcome::Committed;
        }
        for transition in write.transitions {
            self.counted += 1;
            record.history.push_back((self.counted, transition.clone()));
        }
        let surplus = record.history.len().saturating_sub(write.history);
        record.history.drain(..surplus);
        CommitOutcome::Committed
    }

    fn commit(&mut self, writes: &[Write<'_>]) -> Vec<CommitOutcome> {
        writes.iter().map(|write| self.write(write)).collect()
    }
}

impl Store for MemoryStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        Ok(self.shelf().load(key))
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        Ok(self.shelf().commit(writes))
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        let shelf = self.shelf();
        let records = shelf.namespaces.get(namespace).map(|namespace| &namespace.records).into_iter().flatten();
        Ok(records.filter(|(_, record)| record.data.is_some()).map(|(dependency, _)| dependency.clone()).collect())
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        let shelf = self.shelf();
        let Some(record) = shelf.record(key) else { return Ok(Vec::new()) };
        let first = record.history.len().saturating_sub(limit);
        Ok(record.history.range(first..).map(|(_, transition)| transition.clone()).collect())
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        let shelf = self.shelf();
        let after = match after {
            Cursor::Start => 0,
            Cursor::After(number) => number,
            Cursor::End => return Ok(Page { transitions: Vec::new(), next: Cursor::After(shelf.counted) }),
        };
        let records = shelf.namespaces.get(namespace).map(|namespace| &namespace.records).into_iter().flatten();
        let mut found: Vec<(u64, &String, &String)> = records
            .flat_map(|(dependency, record)| {
                let newer = record.history.iter().rev().take_while(|(number, _)| *number > after);
                newer.map(move |(number, transition)| (*number, dependency, transition))
            })
            .collect();
        found.sort_unstable_by_key(|(number, ..)| *number);
        found.truncate(limit);
        let next = Cursor::After(found.last().map_or(after, |(number, ..)| *number));
        let observed = |(_, dependency, transition): (u64, &String, &String)| Observed {
            dependency: dependency.clone(),
            transition: transition.clone(),
        };
        Ok(Page { transitions: found.into_iter().map(observed).collect(), next })
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        if let Some(namespace) = self.shelf().namespaces.get_mut(namespace) {
            // One above the highest, so that a write based on what was there is stale.
            let above = namespace.records.values().map(|record| record.version + 1).max().unwrap_or(0);
            namespace.floor = namespace.floor.max(above);
            namespace.records.clear();
        }
        Ok(())
    }

    fn compact(&self, namespace: &str) -> Result<(), StoreError> {
        if let Some(Namespace { floor, records }) = self.shelf().namespaces.get_mut(namespace) {
            let removed = records.values().filter(|record| record.data.is_none());
            *floor = removed.map(|record| record.version).fold(*floor, u64::max);
            records.retain(|_, record| record.data.is_some());
        }
        Ok(())
    }
}
