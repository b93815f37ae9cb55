//! Reading records, each with what stands for it where it is missing, in one request.

use super::super::{Key, StoreError};
use super::gateway::{KeyValue, RangeRequest, RequestOp, ResponseOp};
use super::keys::Keys;
use super::place::Place;
use super::plan::{Ground, Present, Seen};
use super::value::{self, Floor};

/// The records to read, and the namespaces they are in.
pub(super) struct Look<'a> {
    records: &'a [Key<'a>],
    namespaces: Vec<&'a str>,
}

impl<'a> Look<'a> {
    pub fn at(records: &'a [Key<'a>]) -> Self {
        let mut namespaces: Vec<&str> = records.iter().map(|key| key.namespace).collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        Look { records, namespaces }
    }

    /// What to ask.
    pub fn requests(&self, keys: &Keys, revision: Option<i64>) -> Vec<RequestOp> {
        let records = self.records.iter().map(|key| keys.record(*key));
        let floors = self.namespaces.iter().map(|namespace| keys.floor(namespace));
        records.chain(floors).map(|key| RequestOp::Range(RangeRequest { revision, ..RangeRequest::one(key) })).collect()
    }

    /// What the answers say, at this revision.
    pub fn read(&self, place: &Place, responses: Vec<ResponseOp>, revision: i64) -> Result<Vec<Seen>, StoreError> {
        if responses.len() != self.records.len() + self.namespaces.len() {
            return Err(place.corrupt("it gave another number of answers than it was asked for; is it etcd?"));
        }
        let mut found = responses.into_iter().map(|response| response.range.unwrap_or_default().kvs.pop());
        let records: Vec<Option<KeyValue>> = found.by_ref().take(self.records.len()).collect();
        let floors = self.namespaces.iter().zip(found);
        let floors: Vec<(&str, Ground)> = floors
            .map(|(namespace, kv)| {
                Ok((*namespace, kv.map_or(Ok(Ground::default()), |kv| ground(place, namespace, &kv))?))
            })
            .collect::<Result<_, StoreError>>()?;
        let seen = |(key, kv): (&Key<'_>, Option<KeyValue>)| {
            let floor = floors.iter().find(|(namespace, _)| *namespace == key.namespace);
            let floor = floor.map(|(_, floor)| floor.clone()).unwrap_or_default();
            let record = kv.map(|kv| present(place, *key, &kv)).transpose()?;
            Ok(Seen { record, floor, revision, fresh: true })
        };
        self.records.iter().zip(records).map(seen).collect()
    }
}

pub(super) fn present(place: &Place, key: Key<'_>, kv: &KeyValue) -> Result<Present, StoreError> {
    let (head, data) = value::read_record(&kv.value.0).map_err(|fault| place.unreadable(key, fault))?;
    Ok(Present { mod_revision: kv.mod_revision, head, data })
}

pub(super) fn ground(place: &Place, namespace: &str, kv: &KeyValue) -> Result<Ground, StoreError> {
    let floor: Floor = value::read(&kv.value.0)
        .map_err(|fault| place.unreadable_in(&format!("the mark of removals of the namespace {namespace:?}"), fault))?;
    Ok(Ground { mod_revision: kv.mod_revision, version: floor.version, commit: floor.commit })
}
