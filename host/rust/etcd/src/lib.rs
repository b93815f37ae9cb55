#![doc = include_str!("../README.md")]

mod client;
mod clock;
mod commit;
mod options;
mod records;
mod removal;
mod stream;

use std::fmt;
use std::time::Duration;

use halfopen_contract::store::{CommitOutcome, Cursor, Key, OpenError, Page, Snapshot, Store, StoreError, Write};

pub use options::{EtcdOptions, EtcdTls, EtcdUser};
use records::Records;
use records::value::read_record;

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
        Ok(Self::open_with(&EtcdOptions::from_address(address)?)?)
    }

    /// Opens the store. Sends no request.
    ///
    /// # Errors
    /// [`StoreError::Denied`]: an option is out of range, or a file for TLS cannot be read.
    pub fn open_with(options: &EtcdOptions) -> Result<Self, StoreError> {
        Ok(EtcdStore { records: Records::new(options)? })
    }
}

impl Store for EtcdStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        let client = &self.records.client;
        let until = client.until();
        loop {
            let (state, member) = self.records.read_one(key, until)?;
            // A comparison of the clocks takes time, so that the state is old after it.
            if !client.has_proven_clock()? {
                client.compare_clocks(member)?;
                continue;
            }
            let now = client.clock.now();
            if now.is_too_early_for(state.header.at) {
                // The members prove this machine's clock: the writer's was wrong, or all clocks were set back since.
                // The engine takes a later date as the present.
                let ahead_ms = state.header.at - now.at;
                tracing::warn!(by = state.header.by, ahead_ms, "a record was written by a clock that was ahead");
            }
            let snapshot = state.snapshot(now);
            return snapshot.ok_or_else(|| client.place.corrupt("it returned a record without its bytes"));
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
        let (found, _) = self.records.walk(namespace, self.records.client.until())?;
        let present = found.iter().filter(|kv| !matches!(read_record(&kv.value.0), Ok((_, None))));
        let names = present.filter_map(|kv| self.records.keys.dependency_of_record(&kv.key.0));
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        Ok(names)
    }

    fn namespaces(&self) -> Result<Vec<String>, StoreError> {
        let span = self.records.keys.all_records();
        let (found, _) = self.records.walk_span(span, self.records.client.until())?;
        let present = found.iter().filter(|kv| !matches!(read_record(&kv.value.0), Ok((_, None))));
        let names = present.filter_map(|kv| self.records.keys.namespace_of_record(&kv.key.0));
        Ok(names.collect::<std::collections::BTreeSet<_>>().into_iter().collect())
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
