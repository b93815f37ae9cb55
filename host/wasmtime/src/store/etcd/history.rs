//! Transitions: of a record, and of a namespace in the order of the commits.

use super::super::{Cursor, Key, Observed, Page, StoreError};
use super::EtcdStore;
use super::gateway::{KeyValue, RangeRequest, RequestOp, TxnRequest};
use super::value::{self, Chunk};
use crate::wire::Transition;

/// A position is a revision and the place among the transitions of its commit: so many bits. A commit has fewer than etcd
/// lets into a request.
const PLACE_BITS: u32 = 16;

const LAST_PLACE: u64 = (1 << PLACE_BITS) - 1;

impl EtcdStore {
    pub(super) fn newest(&self, key: Key<'_>, limit: usize) -> Result<Vec<Transition>, StoreError> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        // Each chunk holds one at least. Record and history in one look: the record says from where on they are kept.
        let chunks = RangeRequest {
            limit: Some(i64::try_from(limit).unwrap_or(i64::MAX)),
            sort_order: Some("DESCEND"),
            sort_target: Some("KEY"),
            ..RangeRequest::all(self.keys.chunks(key))
        };
        let record = RangeRequest::one(self.keys.record(key));
        let request =
            TxnRequest { success: vec![RequestOp::Range(record), RequestOp::Range(chunks)], ..TxnRequest::default() };
        let answered = self.txn(&request, self.client.until()).map_err(|unanswered| unanswered.error)?;
        let mut ranges = answered.answer.responses.into_iter().map(|response| response.range.unwrap_or_default().kvs);
        let Some(record) = ranges.next().unwrap_or_default().pop() else { return Ok(Vec::new()) };
        let place = &self.client.place;
        let (head, _) = value::read_record(&record.value.0).map_err(|fault| place.unreadable(key, fault))?;
        let mut newest = std::collections::VecDeque::new();
        for kv in ranges.next().unwrap_or_default() {
            let (_, number, chunk) = self.chunk(&kv)?;
            for (number, transition) in (number..).zip(chunk.transitions).collect::<Vec<_>>().into_iter().rev() {
                if number >= head.first && newest.len() < limit {
                    newest.push_front(transition);
                }
            }
        }
        Ok(newest.into())
    }

    pub(super) fn stream(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        let until = self.client.until();
        let after = match after {
            Cursor::Start => 0,
            Cursor::After(position) => position,
            Cursor::End => {
                let mark = self.range(&RangeRequest::one(self.keys.floor(namespace)), until)?;
                return Ok(Page { transitions: Vec::new(), next: Cursor::After(end_of(mark.header.revision)) });
            }
        };
        if limit == 0 {
            return Ok(Page { transitions: Vec::new(), next: Cursor::After(after) });
        }
        // There may be more of the commit in which the last page ended, and what was read of it comes again: no more chunks
        // than transitions.
        let (revision, place) = (after >> PLACE_BITS, after & LAST_PLACE);
        let (from, again) = if place == LAST_PLACE { (revision + 1, 0) } else { (revision, place as usize + 1) };
        let request = RangeRequest {
            limit: Some(i64::try_from(limit.saturating_add(again)).unwrap_or(i64::MAX)),
            sort_order: Some("ASCEND"),
            sort_target: Some("MOD"),
            min_mod_revision: Some(from as i64),
            ..RangeRequest::all(self.keys.history(namespace))
        };
        let mut page = self.range(&request, until)?;
        if let (true, Some(last)) = (page.more, page.kvs.last().map(|kv| kv.mod_revision)) {
            // Of the last commit some may be missing, and not the last of it: its chunks come in no order.
            page.kvs.retain(|kv| kv.mod_revision < last);
            let whole = RangeRequest {
                limit: None,
                min_mod_revision: Some(last),
                max_mod_revision: Some(last),
                ..request.clone()
            };
            page.kvs.extend(self.range(&whole, until)?.kvs);
        }
        let mut found = Vec::new();
        for kv in &page.kvs {
            let (dependency, _, chunk) = self.chunk(kv)?;
            for (place, transition) in (chunk.offset..).zip(chunk.transitions) {
                let position = (kv.mod_revision as u64) << PLACE_BITS | place.min(LAST_PLACE);
                found.push((position, Observed { dependency: dependency.clone(), transition }));
            }
        }
        found.retain(|(position, _)| *position > after);
        found.sort_by_key(|(position, _)| *position);
        let all = !page.more && found.len() <= limit;
        found.truncate(limit);
        let last = found.last().map_or(after, |(position, _)| *position);
        let next = if all { after.max(end_of(page.header.revision)) } else { last };
        Ok(Page { transitions: found.into_iter().map(|(_, observed)| observed).collect(), next: Cursor::After(next) })
    }

    fn chunk(&self, kv: &KeyValue) -> Result<(String, u64, Chunk), StoreError> {
        let place = &self.client.place;
        let what = || format!("the key {:?}", String::from_utf8_lossy(&kv.key.0));
        let (dependency, number) = self
            .keys
            .dependency_of_chunk(&kv.key.0)
            .ok_or_else(|| place.corrupt(format!("{} is none of this program's", what())))?;
        let chunk = value::read(&kv.value.0).map_err(|fault| place.unreadable_in(&what(), fault))?;
        Ok((dependency, number, chunk))
    }
}

/// After all transitions of a revision.
fn end_of(revision: i64) -> u64 {
    (revision as u64) << PLACE_BITS | LAST_PLACE
}
