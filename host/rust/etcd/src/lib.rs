#![doc = include_str!("../README.md")]

mod client;
mod clock;
mod commit;
mod options;
mod records;
mod removal;
mod stream;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use halfopen_contract::store::{CommitOutcome, Cursor, Key, OpenError, Page, Snapshot, Store, StoreError, Write};
use halfopen_contract::time::{Clock, SystemClock};

use client::messages::Span;
pub use options::{EtcdOptions, EtcdTls, EtcdUser};
use records::Records;
use records::value::{Header, read_record};

/// A store in etcd.
pub struct EtcdStore {
    records: Records,
}

impl EtcdStore {
    /// Opens the store at an address: see [`EtcdOptions::from_address`].
    ///
    /// # Errors
    /// [`OpenError`]: the address, or as [`open_with`](EtcdStore::open_with).
    pub fn open(address: &str) -> Result<Self, OpenError> {
        Ok(Self::open_with(&EtcdOptions::from_address(address)?, Arc::new(SystemClock))?)
    }

    /// Opens the store with the clock of this machine. Sends no request.
    ///
    /// # Errors
    /// [`StoreError::Denied`]: an option is out of range, or a file for TLS cannot be read.
    pub fn open_with(options: &EtcdOptions, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        Ok(EtcdStore { records: Records::new(options, clock)? })
    }
}

impl EtcdStore {
    /// A name from each record of a range that is not removed.
    fn present(&self, span: Span, name: impl Fn(Header) -> String) -> Result<Vec<String>, StoreError> {
        let client = &self.records.client;
        let (found, _) = self.records.all(span, client.until())?;
        let mut names = Vec::new();
        for kv in &found {
            if let (header, Some(_)) = read_record(&client.place, kv)? {
                names.push(name(header));
            }
        }
        Ok(names)
    }
}

impl Store for EtcdStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        let client = &self.records.client;
        let until = client.until();
        loop {
            let states = self.records.read(&[key], until)?;
            // A comparison of the clocks takes time, so that the state is old after it.
            if !client.has_proven_clock()? {
                client.compare_clocks()?;
                continue;
            }
            let snapshot = states.first().map(|state| state.snapshot(client.clock.now()));
            return snapshot.ok_or_else(|| client.place.corrupt("it returned nothing for a record"));
        }
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        commit::commit(&self.records, writes)
    }

    fn max_records(&self) -> usize {
        commit::MAX_RECORDS
    }

    fn max_skew(&self) -> Option<Duration> {
        Some(self.records.client.clock.max_skew)
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        let mut names: Vec<String> = self.present(self.records.keys.records(namespace), |header| header.dependency)?;
        names.sort_unstable();
        Ok(names)
    }

    fn namespaces(&self) -> Result<Vec<String>, StoreError> {
        let names = self.present(self.records.keys.all_records(), |header| header.namespace)?;
        Ok(names.into_iter().collect::<BTreeSet<String>>().into_iter().collect())
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        stream::history(&self.records, key, limit)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        stream::transitions(&self.records, namespace, after, limit)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        removal::remove_namespace(&self.records, namespace)
    }

    fn compact(&self, namespace: &str) -> Result<(), StoreError> {
        removal::compact(&self.records, namespace)
    }
}

impl fmt::Debug for EtcdStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EtcdStore").field("place", &self.records.client.place).finish_non_exhaustive()
    }
}
