//! Commits: one transaction each, judged beforehand on what is known and compared with what is there.

use std::time::Instant;

use super::super::{CommitOutcome, Key, StoreError, Write};
use super::EtcdStore;
use super::change::{Stamp, Transaction};
use super::client::{Answered, Unanswered};
use super::gateway::{RangeRequest, RangeResponse, TxnRequest, TxnResponse};
use super::look::{self, Look};
use super::plan::{Judged, Seen, judge, records};

/// How many records one transaction may touch: with up to four operations each it stays below etcd's limit of 128.
pub(super) const MOST_RECORDS: usize = 24;

/// How a transaction ended.
enum Ended {
    /// It is done, at this revision.
    Done(i64),
    /// Others have written since; what is there now.
    Stale(Vec<Seen>),
}

impl EtcdStore {
    /// Reads records as they are.
    pub(super) fn look(&self, records: &[Key<'_>], until: Instant) -> Result<(Vec<Seen>, usize), StoreError> {
        let look = Look::at(records);
        let request = TxnRequest { success: look.requests(&self.keys, None), ..TxnRequest::default() };
        let answered: Answered<TxnResponse> = self.txn(&request, until).map_err(|unanswered| unanswered.error)?;
        let revision = answered.answer.header.revision;
        let seen = look.read(&self.client.place, answered.answer.responses, revision)?;
        for (key, seen) in records.iter().zip(&seen) {
            self.known.keep(self.keys.record(*key), seen);
        }
        Ok((seen, answered.member))
    }

    /// Reads a record as it is. One that was there before is asked for alone, which costs etcd less; what stands for it
    /// where it is missing is then as old as it was known, and a commit compares it all the same.
    pub(super) fn look_at_one(&self, key: Key<'_>, until: Instant) -> Result<(Seen, usize), StoreError> {
        let name = self.keys.record(key);
        if let Some(before) = self.known.get(&name).filter(|seen| seen.record.is_some()) {
            let answered: Answered<RangeResponse> = self
                .client
                .call("/v3/kv/range", &RangeRequest::one(name.clone()), until)
                .map_err(|unanswered| unanswered.error)?;
            let revision = answered.answer.header.revision;
            if let Some(kv) = answered.answer.kvs.first() {
                let record = Some(look::present(&self.client.place, key, kv)?);
                let seen = Seen { record, floor: before.floor, revision, fresh: true };
                self.known.keep(name, &seen);
                return Ok((seen, answered.member));
            }
        }
        let (mut seen, member) = self.look(&[key], until)?;
        let seen = seen.pop().ok_or_else(|| self.client.place.corrupt("it gave no answer for a record"))?;
        Ok((seen, member))
    }

    pub(super) fn txn(&self, request: &TxnRequest, until: Instant) -> Result<Answered<TxnResponse>, Unanswered> {
        self.client.call("/v3/kv/txn", request, until)
    }

    pub(super) fn commit_all(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        let until = self.client.until();
        let (records, places) = records(writes);
        if records.len() > MOST_RECORDS {
            let why = format!("a commit speaks of {} records, and etcd takes {MOST_RECORDS}", records.len());
            return Err(self.client.place.other(why));
        }
        if records.is_empty() {
            return Ok(Vec::new());
        }
        if !self.client.is_in_time()? {
            self.client.compare(self.client.preferred())?;
        }
        let known: Option<Vec<Seen>> = records.iter().map(|key| self.known.get(&self.keys.record(*key))).collect();
        let mut seen = match known {
            Some(seen) => seen,
            None => self.look(&records, until)?.0,
        };
        // Each time that the transaction is not done, another record has changed and its writes are stale for good; once
        // more for what was known and out of date.
        for _ in 0..records.len() + 3 {
            match judge(writes, &places, &seen, self.client.time.now()) {
                Judged::Unclear => seen = self.look(&records, until)?.0,
                Judged::Clear { outcomes, changes } if changes.is_empty() => return Ok(outcomes),
                Judged::Clear { outcomes, changes } => {
                    let stamp = self.stamp();
                    let transaction = Transaction::of(&self.keys, &changes, &seen, &stamp);
                    let after = transaction.after.clone();
                    match self.transact(&records, &seen, transaction, &stamp, until)? {
                        Ended::Done(revision) => {
                            self.remember(&records, after, revision);
                            return Ok(outcomes);
                        }
                        Ended::Stale(now) => seen = now,
                    }
                }
            }
        }
        Err(self.client.place.unavailable("others wrote the same records each time; try again"))
    }

    fn stamp(&self) -> Stamp {
        Stamp {
            commit: format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..)),
            by: self.writer.clone(),
            now: self.client.time.now(),
        }
    }

    fn transact(
        &self,
        records: &[Key<'_>],
        seen: &[Seen],
        transaction: Transaction,
        stamp: &Stamp,
        until: Instant,
    ) -> Result<Ended, StoreError> {
        let look = Look::at(records);
        let witness = transaction.after.first().map(|(place, _)| *place);
        let request = TxnRequest {
            compare: transaction.compare,
            success: transaction.success,
            failure: look.requests(&self.keys, None),
        };
        let answered = match self.txn(&request, until) {
            // The same transaction again is done at most once: it compares.
            Err(Unanswered { doubtful: true, error }) => {
                self.txn(&request, until + self.client.timeout).map_err(|_| self.unresolved(&error))?.now_doubtful()
            }
            other => other.map_err(|unanswered| unanswered.error)?,
        };
        let revision = answered.answer.header.revision;
        if answered.answer.succeeded {
            return Ok(Ended::Done(revision));
        }
        if answered.doubtful
            && let Some(place) = witness
            && let (Some(key), Some(seen)) = (records.get(place), seen.get(place))
        {
            // It may have been done before, without our hearing of it.
            let until = until + self.client.timeout;
            if let Some(revision) = self.find(*key, seen, revision, stamp, until)? {
                return Ok(Ended::Done(revision));
            }
        }
        look.read(&self.client.place, answered.answer.responses, revision).map(Ended::Stale)
    }

    pub(super) fn unresolved(&self, error: &StoreError) -> StoreError {
        let why = match error {
            StoreError::Unavailable { why, .. } | StoreError::Denied { why, .. } | StoreError::Other { why, .. } => why,
            other => &other.to_string(),
        };
        self.client.place.in_doubt(why)
    }

    fn remember(&self, records: &[Key<'_>], after: Vec<(usize, Seen)>, revision: i64) {
        for (place, mut seen) in after {
            let Some(key) = records.get(place) else { continue };
            seen.revision = revision;
            if let Some(record) = &mut seen.record {
                record.mod_revision = revision;
            }
            self.known.keep(self.keys.record(*key), &seen);
        }
    }
}

impl<T> Answered<T> {
    fn now_doubtful(self) -> Self {
        Answered { doubtful: true, ..self }
    }
}
