//! Removal of a namespace, and of the versions of its removed records.

use std::time::Instant;

use halfopen_contract::store::{FORGOTTEN, REMOVED, StoreError};
use halfopen_contract::time::Backoff;

use crate::client::messages::{Compare, KeyValue, RangeRequest, RequestOp, TxnRequest};
use crate::records::Records;
use crate::records::value::{self, Chunk, Floor, read_record};

/// The keys that one transaction deletes, at most: etcd allows 128 operations.
const BATCH: usize = 100;

/// The old transitions of removals that a commit reads for deletion, at most; it deletes half of them.
const SURPLUS: usize = 200;

/// Deletes the oldest transitions of removals beyond the newest [`FORGOTTEN`] of a namespace.
pub(crate) fn delete_surplus(records: &Records, namespace: &str, until: Instant) -> Result<(), StoreError> {
    let all = RangeRequest::all(records.keys.removals(namespace));
    let oldest = RangeRequest { limit: SURPLUS as i64, sort_order: "ASCEND", sort_target: "MOD", ..all };
    let mut answer = records.client.range(&oldest, until)?;
    // The count comes with the same answer, so that a concurrent deletion cannot make it too high.
    let surplus = usize::try_from(answer.count).unwrap_or(0).saturating_sub(FORGOTTEN);
    if surplus == 0 {
        return Ok(());
    }
    let place = &records.client.place;
    answer.kvs.sort_by_cached_key(|kv| {
        let chunk = value::read::<Chunk>(place, &kv.key.0, &kv.value.0);
        (kv.mod_revision, chunk.map_or(0, |chunk| chunk.offset))
    });
    let oldest = answer.kvs.into_iter().take(surplus.min(SURPLUS / 2));
    let success = oldest.map(|kv| RequestOp::delete(kv.key.0)).collect();
    records.client.txn(&TxnRequest { success, ..TxnRequest::default() }, until).map(drop)
}

/// Removes all records of a namespace. Its floor rises above all their versions, so that a write based on a removed
/// record is stale. A repetition does no harm.
pub(crate) fn remove_namespace(records: &Records, namespace: &str) -> Result<(), StoreError> {
    let keys = &records.keys;
    retried(records, |until| {
        let (floor_revision, floor) = records.floor(namespace, until)?;
        let (found, revision) = records.all(keys.records(namespace), until)?;
        let mut success =
            vec![RequestOp::delete_all(keys.records(namespace)), RequestOp::delete_all(keys.history(namespace))];
        let mut version = floor.version;
        for kv in &found {
            match read_record(&records.client.place, kv) {
                Ok((header, _)) => version = version.max(header.version.saturating_add(1)),
                // The value of another program has no version.
                Err(StoreError::Corrupt { .. }) => {}
                Err(newer) => return Err(newer),
            }
        }
        if !found.is_empty() {
            let floor = Floor { version };
            success.push(RequestOp::put(keys.floor(namespace), value::write(&floor)));
        }
        let compare = vec![
            Compare::is_at(keys.floor(namespace), floor_revision),
            Compare::all_before(keys.records(namespace), revision + 1),
        ];
        let request = TxnRequest { compare, success, failure: Vec::new() };
        Ok(records.client.txn(&request, until)?.succeeded)
    })
}

/// Drops the versions of removed records but for the [`REMOVED`] highest. The floor rises to the highest that is
/// dropped.
pub(crate) fn compact(records: &Records, namespace: &str) -> Result<(), StoreError> {
    let key = records.keys.floor(namespace);
    retried(records, |until| {
        let (mut floor_revision, mut floor) = records.floor(namespace, until)?;
        let (found, _) = records.all(records.keys.records(namespace), until)?;
        let removed = found.into_iter().filter_map(|kv| match read_record(&records.client.place, &kv) {
            Ok((header, None)) => Some((header.version, kv)),
            _ => None,
        });
        let mut removed: Vec<(u64, KeyValue)> = removed.collect();
        removed.sort_unstable_by_key(|(version, _)| std::cmp::Reverse(*version));
        floor.version = removed.get(REMOVED).map_or(0, |(version, _)| *version).max(floor.version);
        removed.retain(|(version, _)| *version <= floor.version);
        for batch in removed.chunks(BATCH) {
            let unchanged = batch.iter().map(|(_, kv)| Compare::is_at(kv.key.0.clone(), kv.mod_revision));
            let deletions = batch.iter().map(|(_, kv)| RequestOp::delete(kv.key.0.clone()));
            let request = TxnRequest {
                compare: unchanged.chain([Compare::is_at(key.clone(), floor_revision)]).collect(),
                success: deletions.chain([RequestOp::put(key.clone(), value::write(&floor))]).collect(),
                failure: Vec::new(),
            };
            let answer = records.client.txn(&request, until)?;
            if !answer.succeeded {
                return Ok(false);
            }
            floor_revision = answer.header.revision;
        }
        Ok(true)
    })
}

/// Repeats `attempt` until it returns true: other processes may write to the namespace meanwhile.
fn retried(records: &Records, attempt: impl Fn(Instant) -> Result<bool, StoreError>) -> Result<(), StoreError> {
    let until = records.client.until();
    let mut backoff = Backoff::begin();
    while !attempt(until)? {
        let pause = backoff.wait();
        if Instant::now() + pause >= until {
            let why = "other processes wrote to the namespace at each attempt; try again";
            return Err(records.client.place.unavailable(why));
        }
        std::thread::sleep(pause);
        backoff.again();
    }
    Ok(())
}
