//! A store of your own, here in a hundred lines for one process. The suite that every store has to pass checks it.
//!
//! `cargo run --example swap_store --features conformance`

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use halfopen::store::{CommitOutcome, Cursor, FORGOTTEN, Key, Observed, Page, Snapshot, Store, StoreError, Write};
use halfopen::{Decision, Host, conformance};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = Arc::new(MyStore::default());
    let broken = conformance::check(&|| store.clone());
    assert!(broken.is_empty(), "the store does not meet its obligations: {broken:?}");
    println!("the store meets all {} obligations", conformance::obligations().len());

    let host = Host::builder().shared_store(store).build()?;
    if let Decision::Proceed(guard) = host.breaker("payments").acquire()? {
        println!("{:?}", guard.failure()?);
    }
    println!("records: {:?}", host.list()?);
    Ok(())
}

/// All records behind one lock.
#[derive(Default)]
struct MyStore(Mutex<Records>);

#[derive(Default)]
struct Records {
    /// The version and the data of each.
    by_pair: BTreeMap<Pair, (u64, Option<Vec<u8>>)>,
    /// The transitions of all, in order.
    log: Vec<Entry>,
    logged: u64,
}

/// A namespace and a dependency.
type Pair = (String, String);

struct Entry {
    number: u64,
    pair: Pair,
    transition: String,
    of_removal: bool,
}

impl Records {
    fn snapshot(&self, pair: &Pair) -> Snapshot {
        let (version, data) = self.by_pair.get(pair).cloned().unwrap_or_default();
        Snapshot { version, data, at: None }
    }

    fn write(&mut self, write: &Write<'_>) -> CommitOutcome {
        let pair = (write.key.namespace.to_owned(), write.key.dependency.to_owned());
        let present = self.snapshot(&pair);
        if present.version != write.based_on {
            return CommitOutcome::Stale(present);
        }
        self.by_pair.insert(pair.clone(), (write.version, write.data.map(<[u8]>::to_vec)));
        let of_removal = write.data.is_none();
        for transition in write.transitions {
            self.logged += 1;
            self.log.push(Entry {
                number: self.logged,
                pair: pair.clone(),
                transition: transition.clone(),
                of_removal,
            });
        }
        let history = if of_removal { 0 } else { write.history };
        self.keep_newest(history, |entry| !entry.of_removal && entry.pair == pair);
        self.keep_newest(FORGOTTEN, |entry| entry.of_removal && entry.pair.0 == pair.0);
        CommitOutcome::Committed
    }

    fn keep_newest(&mut self, keep: usize, is_one: impl Fn(&Entry) -> bool) {
        let mut surplus = self.log.iter().filter(|entry| is_one(entry)).count().saturating_sub(keep);
        self.log.retain(|entry| {
            let goes = surplus > 0 && is_one(entry);
            surplus -= usize::from(goes);
            !goes
        });
    }
}

impl Store for MyStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        Ok(self.0.lock().unwrap().snapshot(&(key.namespace.to_owned(), key.dependency.to_owned())))
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        let mut records = self.0.lock().unwrap();
        Ok(writes.iter().map(|write| records.write(write)).collect())
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        let records = self.0.lock().unwrap();
        let of_namespace =
            records.by_pair.iter().filter(|((space, _), (_, data))| space == namespace && data.is_some());
        Ok(of_namespace.map(|((_, dependency), _)| dependency.clone()).collect())
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        let records = self.0.lock().unwrap();
        let is_one =
            |entry: &&Entry| !entry.of_removal && entry.pair.0 == key.namespace && entry.pair.1 == key.dependency;
        let mut newest: Vec<_> = records.log.iter().filter(is_one).map(|entry| entry.transition.clone()).collect();
        newest.drain(..newest.len().saturating_sub(limit));
        Ok(newest)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        let records = self.0.lock().unwrap();
        let after = match after {
            Cursor::Start => 0,
            Cursor::End => records.logged,
            Cursor::After(number) => number,
        };
        let newer = records.log.iter().filter(|entry| entry.pair.0 == namespace && entry.number > after);
        let newer: Vec<&Entry> = newer.take(limit).collect();
        let next = Cursor::After(newer.last().map_or(after, |entry| entry.number));
        let observed =
            |entry: &&Entry| Observed { dependency: entry.pair.1.clone(), transition: entry.transition.clone() };
        Ok(Page { transitions: newer.iter().map(observed).collect(), next })
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        let mut records = self.0.lock().unwrap();
        for (_, record) in records.by_pair.iter_mut().filter(|((space, _), _)| space == namespace) {
            // The version stays, so that none is ever given twice.
            *record = (record.0 + 1, None);
        }
        records.log.retain(|entry| entry.pair.0 != namespace);
        Ok(())
    }
}
