//! Removing a namespace.

use super::super::StoreError;
use super::EtcdStore;
use super::gateway::{Compare, RangeRequest, RangeResponse, RequestOp, TxnRequest};
use super::look::ground;
use super::plan::Ground;
use super::value::{self, Floor, Unreadable};

/// How many records are read at a time.
const PAGE: i64 = 500;

/// How often others may write to the namespace meanwhile.
const ROUNDS: u32 = 64;

impl EtcdStore {
    /// Removes all records of a namespace; done twice it does no harm. Its mark rises above all versions they had, so that
    /// a write based on what was there is stale.
    pub(super) fn remove_all(&self, namespace: &str) -> Result<(), StoreError> {
        let until = self.client.until();
        for round in 0..ROUNDS {
            let (floor, highest, revision) = self.heights(namespace, until)?;
            let Some(highest) = highest else { return Ok(()) };
            let content =
                Floor { version: floor.version.max(highest.saturating_add(1)), commit: "namespace".to_owned() };
            let request = TxnRequest {
                compare: vec![
                    Compare::is_at(self.keys.floor(namespace), floor.mod_revision),
                    Compare::all_before(self.keys.records(namespace), revision + 1),
                ],
                success: vec![
                    RequestOp::delete_all(self.keys.records(namespace)),
                    RequestOp::delete_all(self.keys.history(namespace)),
                    RequestOp::put(self.keys.floor(namespace), value::write(&content)),
                ],
                failure: Vec::new(),
            };
            let answered = self.txn(&request, until).map_err(|unanswered| unanswered.error)?;
            if answered.answer.succeeded {
                return Ok(());
            }
            std::thread::sleep(std::time::Duration::from_micros(fastrand::u64(..200 * u64::from(round + 1))));
        }
        Err(self.client.place.unavailable("others wrote to the namespace each time it was to be removed; try again"))
    }

    /// The mark of a namespace, the highest version of its records where it has any, and the revision of all that.
    fn heights(&self, namespace: &str, until: std::time::Instant) -> Result<(Ground, Option<u64>, i64), StoreError> {
        let place = &self.client.place;
        let mark = self.range(&RangeRequest::one(self.keys.floor(namespace)), until)?;
        let floor = mark.kvs.first().map_or(Ok(Ground::default()), |kv| ground(place, namespace, kv))?;
        let mut highest = None;
        let mut request = RangeRequest { limit: Some(PAGE), ..RangeRequest::all(self.keys.records(namespace)) };
        loop {
            let page = self.range(&request, until)?;
            // What changes after the first page has a higher revision, and the removal compares.
            let revision = *request.revision.get_or_insert(page.header.revision);
            for kv in &page.kvs {
                let version = match value::read_record(&kv.value.0) {
                    Ok((head, _)) => head.version,
                    // What another program wrote there goes as well; it has no version that counts.
                    Err(Unreadable::Damaged) => 0,
                    Err(newer) => return Err(place.unreadable_in(&format!("the namespace {namespace:?}"), newer)),
                };
                highest = highest.max(Some(version));
            }
            match page.kvs.last() {
                Some(last) if page.more => {
                    request.key.0.clone_from(&last.key.0);
                    request.key.0.push(0);
                }
                _ => return Ok((floor, highest, revision)),
            }
        }
    }

    pub(super) fn range(&self, request: &RangeRequest, until: std::time::Instant) -> Result<RangeResponse, StoreError> {
        let answered = self.client.call("/v3/kv/range", request, until).map_err(|unanswered| unanswered.error)?;
        Ok(answered.answer)
    }
}
