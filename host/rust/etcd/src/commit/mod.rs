//! Commits: one transaction each, evaluated on the last known states, which the transaction compares with the present
//! ones.

mod evaluate;
mod lost_answer;
mod transaction;

use std::time::Instant;

use gethostname::gethostname;
use halfopen_contract::store::{CommitOutcome, FORGOTTEN, Key, StoreError, Write};

use crate::client::messages::{RangeRequest, RequestOp, TxnRequest};
use crate::client::{NoReply, Reply};
use crate::records::value::{self, Chunk};
use crate::records::{RecordState, Records};
use evaluate::{evaluate, keys};
use transaction::{Stamp, Transaction};

/// The records in a transaction, at most: with up to five operations each it stays below etcd's limit of 128.
pub(crate) const MAX_RECORDS: usize = 24;

/// The old transitions of removals that a commit reads for deletion, at most; it deletes half of them.
const SURPLUS: usize = 200;

/// The end of a transaction.
enum End {
    /// Done, at this revision.
    Done(i64),
    /// A record had changed; the present states.
    Changed(Vec<RecordState>),
}

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
        client.compare_clocks(client.preferred())?;
    }
    let cached: Option<Vec<RecordState>> = keys.iter().map(|key| records.cached(*key)).collect();
    let mut states = match cached {
        Some(states) => states,
        None => records.read(&keys, until)?.0,
    };
    // Each transaction that is not done shows one more record whose writes are stale for good; the cache may have been
    // outdated as well.
    for _ in 0..keys.len() + 3 {
        let Some((outcomes, changes)) = evaluate(writes, &indices, &states, client.clock.now()) else {
            states = records.read(&keys, until)?.0;
            continue;
        };
        if changes.is_empty() {
            return Ok(outcomes);
        }
        let stamp = Stamp {
            commit: format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..)),
            by: format!("{} (pid {})", gethostname().display(), std::process::id()),
            now: client.clock.now(),
        };
        let Transaction { compare, success, after, .. } = Transaction::new(&records.keys, &changes, &states, &stamp);
        let request = TxnRequest { compare, success, failure: records.requests(&keys, 0) };
        let witness = changes[0].index;
        match transact(records, &request, &keys, (keys[witness], &states[witness]), &stamp, until)? {
            End::Done(revision) => {
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
            End::Changed(now) => states = now,
        }
    }
    Err(client.place.unavailable("other processes wrote the same records each time; try again"))
}

/// Sends a transaction, and finds out what became of it. `witness` is one of the records that it changes, with the
/// state that it compares.
fn transact(
    records: &Records,
    request: &TxnRequest,
    keys: &[Key<'_>],
    witness: (Key<'_>, &RecordState),
    stamp: &Stamp,
    until: Instant,
) -> Result<End, StoreError> {
    let client = &records.client;
    let reply = match client.txn(request, until) {
        // The same transaction again is done at most once: it compares.
        Err(NoReply { in_doubt: true, error }) => {
            let reply = client.txn(request, until + client.timeout);
            Reply {
                in_doubt: true,
                ..reply.map_err(|_| client.place.in_doubt(format!("the answer was lost: {error}")))?
            }
        }
        other => other?,
    };
    let revision = reply.answer.header.revision;
    if reply.answer.succeeded {
        return Ok(End::Done(revision));
    }
    if reply.in_doubt
        && let Some(revision) =
            lost_answer::find(records, witness.0, witness.1, revision, stamp, until + client.timeout)?
    {
        return Ok(End::Done(revision));
    }
    records.states(keys, reply.answer.responses, revision).map(End::Changed)
}

/// Deletes the oldest transitions of removals beyond the newest [`FORGOTTEN`] of a namespace.
fn delete_surplus(records: &Records, namespace: &str, until: Instant) -> Result<(), StoreError> {
    let all = RangeRequest::all(records.keys.removals(namespace));
    let oldest = RangeRequest { limit: SURPLUS as i64, sort_order: "ASCEND", sort_target: "MOD", ..all };
    let answer = records.client.range(&oldest, until)?.answer;
    // The count comes with the same answer, so that a concurrent deletion cannot make it too high.
    let surplus = usize::try_from(answer.count).unwrap_or(0).saturating_sub(FORGOTTEN);
    if surplus == 0 {
        return Ok(());
    }
    let mut oldest: Vec<(i64, u64, Vec<u8>)> = Vec::new();
    for kv in answer.kvs {
        let offset = value::read::<Chunk>(&kv.value.0).map_or(0, |chunk| chunk.offset);
        oldest.push((kv.mod_revision, offset, kv.key.0));
    }
    oldest.sort_unstable();
    oldest.truncate(surplus.min(SURPLUS / 2));
    let success = oldest.into_iter().map(|(_, _, key)| RequestOp::delete(key)).collect();
    let request = TxnRequest { success, ..TxnRequest::default() };
    Ok(records.client.txn(&request, until).map(drop)?)
}
