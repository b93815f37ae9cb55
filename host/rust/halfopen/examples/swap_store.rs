//! A store of your own, here in fifty lines for one process. The suite that every store has to pass checks it.
//!
//! `cargo run --example swap_store --features conformance`

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use halfopen::store::{CommitOutcome, Cursor, Key, Observed, Page, Snapshot, Store, StoreError, Write};
use halfopen::{Decision, Host, conformance};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = Arc::new(MyStore::default());
    let broken = conformance::check(&|| store.clone());
    assert!(broken.is_empty(), "the store does not do what it owes: {broken:?}");
    println!("the store meets all {} obligations", conformance::obligations().len());

    let host = Host::builder().shared_store(store).build()?;
    if let Decision::Proceed(guard) = host.breaker("payments").acquire()? {
        println!("{:?}", guard.failure()?);
    }
    println!("records: {:?}", host.list()?);
    Ok(())
}

/// All records behind one lock, and the number of transitions so far.
#[derive(Default)]
struct MyStore(Mutex<(Records, u64)>);

type Records = BTreeMap<(String, String), Record>;

#[derive(Clone, Default)]
struct Record {
    version: u64,
    data: Option<Vec<u8>>,
    history: Vec<(u64, String)>,
}

fn pair(key: Key<'_>) -> (String, String) {
    (key.namespace.to_owned(), key.dependency.to_owned())
}

impl Store for MyStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        let record = self.0.lock().unwrap().0.get(&pair(key)).cloned().unwrap_or_default();
        Ok(Snapshot { version: record.version, data: record.data, at: None })
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        let (records, count) = &mut *self.0.lock().unwrap();
        let commit = |write: &Write<'_>| {
            let record = records.entry(pair(write.key)).or_default();
            if record.version != write.based_on {
                return CommitOutcome::Stale(Snapshot { version: record.version, data: record.data.clone(), at: None });
            }
            (record.version, record.data) = (write.version, write.data.map(<[u8]>::to_vec));
            for transition in write.transitions {
                *count += 1;
                record.history.push((*count, transition.clone()));
            }
            let keep = write.data.map_or(0, |_| write.history);
            record.history.drain(..record.history.len().saturating_sub(keep));
            CommitOutcome::Committed
        };
        Ok(writes.iter().map(commit).collect())
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        let (records, _) = &*self.0.lock().unwrap();
        let live = records.iter().filter(|((space, _), record)| space == namespace && record.data.is_some());
        Ok(live.map(|((_, dependency), _)| dependency.clone()).collect())
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        let (records, _) = &*self.0.lock().unwrap();
        let mut newest: Vec<_> = records.get(&pair(key)).map(|record| record.history.clone()).unwrap_or_default();
        newest.drain(..newest.len().saturating_sub(limit));
        Ok(newest.into_iter().map(|(_, transition)| transition).collect())
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        let (records, count) = &*self.0.lock().unwrap();
        let after = match after {
            Cursor::Start => 0,
            Cursor::End => *count,
            Cursor::After(number) => number,
        };
        let of_space = records.iter().filter(|((space, _), _)| space == namespace);
        let all =
            of_space.flat_map(|((_, dependency), record)| record.history.iter().map(move |seen| (dependency, seen)));
        let mut newer: Vec<_> = all.filter(|(_, (number, _))| *number > after).collect();
        newer.sort_by_key(|(_, (number, _))| *number);
        newer.truncate(limit);
        let next = Cursor::After(newer.last().map_or(after, |(_, (number, _))| *number));
        let observed = |(dependency, (_, transition)): &(&String, &(u64, String))| Observed {
            dependency: (*dependency).clone(),
            transition: transition.clone(),
        };
        Ok(Page { transitions: newer.iter().map(observed).collect(), next })
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        let (records, _) = &mut *self.0.lock().unwrap();
        for (_, record) in records.iter_mut().filter(|((space, _), _)| space == namespace) {
            // The version stays, so that none is ever given twice.
            *record = Record { version: record.version + 1, ..Record::default() };
        }
        Ok(())
    }
}
