//! etcd: for callers on many machines that share a cluster of it.
//!
//! Speaks to the JSON gateway of etcd 3.4 and later, over pooled connections. A record is one key; a read is one round trip,
//! a decision that writes is two. A commit is one transaction that compares the revision of what the decision rests on, so
//! of any number of callers one wins. Reads are linearizable. The members are asked in turn until one answers, and the one
//! that did is asked first the next time; each operation ends within [`timeout`](EtcdOptions::timeout). Nothing is asked
//! when the store is opened.
//!
//! A commit whose acknowledgement was lost is sent again, which does it at most once, and looked for in what etcd keeps of
//! the past. Where that cannot be had in time (no quorum, or compacted away) the error says that it is not known whether
//! the commit was done: [`StoreError::InDoubt`].
//!
//! # The clock
//!
//! etcd has no clock for its clients: times come from the clock of the machine, and all machines must have theirs set by
//! NTP. Each answer of etcd bears the clock of the member that gave it, so each process measures how far its own clock is
//! off. It serves only while that is proven to be at most half of [`max_skew`](EtcdOptions::max_skew) for most of the listed
//! members that answer; otherwise every operation that rests on the time is an error that says by how much. So two
//! processes are never further apart than `max_skew`, as long as both reach most of the members: **list all of them**. A
//! process that reaches but one, whose clock is wrong, cannot know. A lease may end up to `max_skew` early for a process
//! whose clock is ahead, so a host refuses a `lease_ms` below twice of it.
//!
//! The clocks in the answers show whole seconds: before its first answer a process compares for a moment, for a second less
//! `max_skew` at most and for none from 2 s on. A small bound needs a fast network: the way to etcd and back must take less
//! than `max_skew`.
//!
//! A clock that is behind the last writer's by no more than `max_skew` takes the writer's time, so that time does not turn
//! back between processes.
//!
//! # What is kept
//!
//! Under `PREFIX//record/`, `PREFIX//history/` and `PREFIX//removed/`; a user of etcd needs `readwrite` on the prefix. A
//! record that is removed leaves nothing but a mark for its whole namespace, from which versions go on. Restoring etcd from
//! a backup takes back what was acknowledged since.

mod address;
mod change;
mod client;
mod commit;
mod fault;
mod gateway;
mod history;
mod keys;
mod known;
mod look;
mod lookup;
mod measure;
mod options;
mod place;
mod plan;
mod removal;
mod resolve;
mod skew;
mod tls;
mod value;

use std::time::Duration;

pub use self::address::InvalidEtcdAddress;
use self::client::Client;
use self::gateway::RangeRequest;
use self::keys::Keys;
use self::known::Known;
pub use self::options::{EtcdIdentity, EtcdOptions, EtcdTls, EtcdUser};
use self::place::Place;
use self::plan::Seen;
use super::{CommitOutcome, Cursor, Key, Page, Snapshot, Store, StoreError, Write};
use crate::wire::Transition;

/// A store in etcd. See [the module](self).
pub struct EtcdStore {
    client: Client,
    keys: Keys,
    known: Known,
    /// Who writes, as records say it.
    writer: String,
}

impl EtcdStore {
    /// A store with these options. Nothing is asked yet.
    ///
    /// # Errors
    /// [`StoreError::Denied`]: an option is out of range, or a file for TLS cannot be read.
    pub fn open(options: &EtcdOptions) -> Result<Self, StoreError> {
        let place = Place::new(options);
        if let Some(why) = options.fault() {
            return Err(place.denied(why));
        }
        Ok(EtcdStore {
            client: Client::new(options, place)?,
            keys: Keys::new(&options.prefix),
            known: Known::default(),
            writer: format!("{} (pid {})", machine(), std::process::id()),
        })
    }

    /// Has a record that is dated ahead of this machine's clock, by more than clocks may be apart, looked into.
    fn check_date(&self, seen: &Seen, member: usize) -> Result<(), StoreError> {
        let Some(record) = &seen.record else { return Ok(()) };
        let now = self.client.time.now();
        if !now.is_too_early_for(record.head.at) {
            return Ok(());
        }
        self.client.doubt(member)?;
        // This machine's clock is right, as far as the members go: the writer's was wrong, or all were set back since. The
        // component takes what is dated later as dated now.
        let ahead = record.head.at.saturating_sub(now.at);
        tracing::warn!(by = record.head.by, ahead_ms = ahead, "a record was written by a clock that was ahead");
        Ok(())
    }
}

impl Store for EtcdStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        let until = self.client.until();
        loop {
            let (seen, member) = self.look_at_one(key, until)?;
            // What was looked at before a comparison of the clocks is old by then.
            if !self.client.is_in_time()? {
                self.client.compare(member)?;
                continue;
            }
            self.check_date(&seen, member)?;
            return Ok(seen.snapshot(self.client.time.now()));
        }
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.commit_all(writes)
    }

    fn max_records(&self) -> usize {
        commit::MOST_RECORDS
    }

    fn max_skew(&self) -> Option<Duration> {
        Some(self.client.time.max_skew)
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        let request = RangeRequest { keys_only: Some(true), ..RangeRequest::all(self.keys.records(namespace)) };
        let found = self.range(&request, self.client.until())?;
        let names = found.kvs.iter().filter_map(|kv| self.keys.dependency_of_record(&kv.key.0));
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        Ok(names)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<Transition>, StoreError> {
        self.newest(key, limit)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.stream(namespace, after, limit)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.remove_all(namespace)
    }
}

impl std::fmt::Debug for EtcdStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EtcdStore").field("place", &self.client.place).finish_non_exhaustive()
    }
}

/// This machine's name, as far as it is known.
fn machine() -> String {
    let named = std::fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim().to_owned());
    let named = named.or_else(|| std::env::var("COMPUTERNAME").ok()).or_else(|| std::env::var("HOSTNAME").ok());
    named.filter(|name| !name.is_empty()).unwrap_or_else(|| "this machine".to_owned())
}

#[cfg(test)]
mod tests;
