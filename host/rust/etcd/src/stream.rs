//! Transitions: of a record, and of a namespace in the order of the commits.

use std::collections::VecDeque;

use halfopen_contract::store::{Cursor, Key, Observed, Page, StoreError};

use crate::client::messages::{KeyValue, RangeRequest, RequestOp, TxnRequest};
use crate::records::Records;
use crate::records::value::{self, Chunk};

/// A position is a revision, and in its last bits the place among the transitions of the commit. A commit has fewer
/// transitions than etcd allows in a request.
const PLACE_BITS: u32 = 16;

const LAST_PLACE: u64 = (1 << PLACE_BITS) - 1;

/// The newest transitions of a record, oldest first.
pub(crate) fn history(records: &Records, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    // A chunk holds at least one transition. The record is read with them: it says which is the first that is kept.
    let chunks = RangeRequest {
        limit: i64::try_from(limit).unwrap_or(i64::MAX),
        sort_order: "DESCEND",
        ..RangeRequest::all(records.keys.chunks(key))
    };
    let mut success = records.requests(&[key], 0);
    success.push(RequestOp::Range(chunks));
    let request = TxnRequest { success, ..TxnRequest::default() };
    let mut answer = records.client.txn(&request, records.client.until())?;
    let chunks = answer.responses.pop().unwrap_or_default().response_range.kvs;
    let first = records.states(&[key], answer)?.first().map_or(0, |state| state.header.first);
    let mut newest = VecDeque::new();
    for kv in chunks {
        let chunk = read_chunk(records, &kv)?;
        let kept = usize::try_from(chunk.end.saturating_sub(first)).unwrap_or(usize::MAX).min(limit - newest.len());
        for transition in chunk.transitions.into_iter().rev().take(kept) {
            newest.push_front(transition);
        }
    }
    Ok(newest.into())
}

/// The transitions of a namespace after a position.
pub(crate) fn transitions(records: &Records, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
    let until = records.client.until();
    let after = match after {
        Cursor::Start => 0,
        Cursor::After(position) => position,
        Cursor::End => {
            let answer = records.client.range(&RangeRequest::one(records.keys.floor(namespace)), until)?;
            return Ok(Page { transitions: Vec::new(), next: Cursor::After(end_of(answer.header.revision)) });
        }
    };
    if limit == 0 {
        return Ok(Page { transitions: Vec::new(), next: Cursor::After(after) });
    }
    // The last page may have ended inside a commit, whose chunks come again: at most as many as transitions were read.
    let (revision, place) = (after >> PLACE_BITS, after & LAST_PLACE);
    let (from, again) = if place == LAST_PLACE { (revision + 1, 0) } else { (revision, place as usize + 1) };
    let request = RangeRequest {
        limit: i64::try_from(limit.saturating_add(again)).unwrap_or(i64::MAX),
        sort_order: "ASCEND",
        sort_target: "MOD",
        min_mod_revision: from as i64,
        ..RangeRequest::all(records.keys.history(namespace))
    };
    let mut page = records.client.range(&request, until)?;
    if let (true, Some(last)) = (page.more, page.kvs.last().map(|kv| kv.mod_revision)) {
        // Some chunks of the last commit may be missing, and not its last ones: they come in no order.
        page.kvs.retain(|kv| kv.mod_revision < last);
        let whole = RangeRequest { limit: 0, min_mod_revision: last, max_mod_revision: last, ..request };
        page.kvs.extend(records.client.range(&whole, until)?.kvs);
    }
    let mut found = Vec::new();
    for kv in &page.kvs {
        let chunk = read_chunk(records, kv)?;
        for (place, transition) in (chunk.offset..).zip(chunk.transitions) {
            let position = (kv.mod_revision as u64) << PLACE_BITS | place.min(LAST_PLACE);
            found.push((position, Observed { dependency: chunk.dependency.clone(), transition }));
        }
    }
    found.retain(|(position, _)| *position > after);
    found.sort_by_key(|(position, _)| *position);
    let is_all = !page.more && found.len() <= limit;
    found.truncate(limit);
    let last = found.last().map_or(after, |(position, _)| *position);
    let next = if is_all { after.max(end_of(page.header.revision)) } else { last };
    Ok(Page { transitions: found.into_iter().map(|(_, observed)| observed).collect(), next: Cursor::After(next) })
}

fn read_chunk(records: &Records, kv: &KeyValue) -> Result<Chunk, StoreError> {
    value::read(&records.client.place, &kv.key.0, &kv.value.0)
}

/// The position after all transitions of a revision.
fn end_of(revision: i64) -> u64 {
    (revision as u64) << PLACE_BITS | LAST_PLACE
}
