//! Commits: one transaction each, evaluated on the last known states, which the transaction compares with the present
//! ones.

mod evaluate;
mod lost_answer;
mod transaction;

use halfopen_contract::store::{CommitOutcome, StoreError, Write};

use crate::client::messages::TxnRequest;
use crate::records::{RecordState, Records};
use crate::removal::delete_surplus;
use evaluate::{evaluate, keys};
use transaction::Transaction;

/// The records in a transaction, at most: with up to five operations each it stays below etcd's limit of 128.
pub(crate) const MAX_RECORDS: usize = 24;

/// Does each of the writes whose record has the version it is based on.
pub(crate) fn commit(records: &Records, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
    let client = &records.client;
    let until = client.until();
    let (keys, indices) = keys(writes);
    if keys.len() > MAX_RECORDS {
        let why = format!("a commit writes {} records, and etcd takes {MAX_RECORDS}", keys.len());
        return Err(client.place.other(why));
    }
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    if !client.has_proven_clock()? {
        client.compare_clocks()?;
    }
    let cached: Option<Vec<RecordState>> = keys.iter().map(|key| records.cached(*key)).collect();
    let mut is_cached = cached.is_some();
    let mut states = match cached {
        Some(states) => states,
        None => records.read(&keys, until)?,
    };
    // Each transaction that is not done shows one more record whose writes are stale for good; the cache may have been
    // outdated as well.
    for _ in 0..keys.len() + 3 {
        let now = client.clock.now();
        let (outcomes, changes) = evaluate(writes, &indices, &states, now);
        if is_cached && outcomes.iter().any(|outcome| *outcome != CommitOutcome::Committed) {
            states = records.read(&keys, until)?;
            is_cached = false;
            continue;
        }
        // One of the records that change shows whether the transaction was done.
        let Some(witness) = changes.first().map(|change| change.index) else { return Ok(outcomes) };
        let id = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
        let Transaction { compare, success, after, .. } = Transaction::new(&records.keys, &changes, &states, &id, now);
        let request = TxnRequest { compare, success, failure: records.requests(&keys, 0) };
        let (answer, in_doubt) = client.commit(&request, until)?;
        let revision = answer.header.revision;
        let done_at = if answer.succeeded {
            Some(revision)
        } else if in_doubt {
            let until = until + client.timeout;
            lost_answer::find(records, keys[witness], &states[witness], revision, &id, until)?
        } else {
            None
        };
        let Some(revision) = done_at else {
            states = records.states(&keys, answer)?;
            is_cached = false;
            continue;
        };
        for (index, header) in after {
            let state = RecordState { mod_revision: revision, header, revision, ..RecordState::default() };
            records.cache(keys[index], &state);
        }
        for change in changes.iter().filter(|change| !change.removals.is_empty()) {
            // Left to the next removal where it fails: the commit is done.
            let _ = delete_surplus(records, change.key.namespace, until);
        }
        return Ok(outcomes);
    }
    Err(client.place.unavailable("other processes wrote the same records each time; try again"))
}
