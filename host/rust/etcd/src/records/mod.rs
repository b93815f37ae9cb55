//! Records in etcd: their keys and values, and reads of their states.

pub(crate) mod keys;
mod state;
pub(crate) mod value;

use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use halfopen_contract::store::{Key, StoreError};
use lru::LruCache;

use crate::client::messages::{KeyValue, RangeRequest, RequestOp, ResponseOp, Span, TxnRequest};
use crate::client::{Client, Reply};
use crate::options::EtcdOptions;
use keys::Keys;
pub(crate) use state::RecordState;
use value::Floor;

/// The states in the cache, at most.
const CACHED: NonZeroUsize = NonZeroUsize::new(8_192).unwrap();

/// The records in a page of a walk through a namespace.
const PAGE: i64 = 500;

/// The records of a store.
pub(crate) struct Records {
    pub client: Client,
    pub keys: Keys,
    /// The last known states, without data, so that a commit needs no read. A stale one does no harm: the commit
    /// compares.
    cache: Mutex<LruCache<Vec<u8>, RecordState>>,
}

impl Records {
    pub fn new(options: &EtcdOptions) -> Result<Self, StoreError> {
        let cache = Mutex::new(LruCache::new(CACHED));
        Ok(Records { client: Client::new(options)?, keys: Keys::new(&options.prefix), cache })
    }

    /// Reads the state of a record; returns it with the member that answered. A record that existed before is read
    /// alone, which costs etcd less.
    pub fn read_one(&self, key: Key<'_>, until: Instant) -> Result<(RecordState, usize), StoreError> {
        let name = self.keys.record(key);
        if self.cached(key).is_some_and(|state| state.mod_revision > 0) {
            let Reply { answer, member, .. } = self.client.range(&RangeRequest::one(name), until)?;
            if let Some(kv) = answer.kvs.first() {
                let state = self.present(key, kv, answer.header.revision)?;
                self.cache(key, &state);
                return Ok((state, member));
            }
        }
        let (mut states, member) = self.read(&[key], until)?;
        let state = states.pop().ok_or_else(|| self.client.place.corrupt("it returned nothing for a record"))?;
        Ok((state, member))
    }

    /// Reads the states of records; returns them with the member that answered.
    pub fn read(&self, keys: &[Key<'_>], until: Instant) -> Result<(Vec<RecordState>, usize), StoreError> {
        let (states, member) = self.read_at(keys, 0, until)?;
        keys.iter().zip(&states).for_each(|(key, state)| self.cache(*key, state));
        Ok((states, member))
    }

    /// Reads the states of records at a revision; 0 reads the present.
    pub fn read_at(
        &self,
        keys: &[Key<'_>],
        revision: i64,
        until: Instant,
    ) -> Result<(Vec<RecordState>, usize), StoreError> {
        let request = TxnRequest { success: self.requests(keys, revision), ..TxnRequest::default() };
        let Reply { answer, member, .. } = self.client.txn(&request, until)?;
        Ok((self.states(keys, answer.responses, answer.header.revision)?, member))
    }

    /// The requests for the states of records, each with the floor of its namespace; at a revision; 0 reads the
    /// present.
    pub fn requests(&self, keys: &[Key<'_>], revision: i64) -> Vec<RequestOp> {
        let names = keys.iter().flat_map(|key| [self.keys.record(*key), self.keys.floor(key.namespace)]);
        names.map(|key| RequestOp::Range(RangeRequest { revision, ..RangeRequest::one(key) })).collect()
    }

    /// The states in the responses to [`requests`](Records::requests).
    pub fn states(
        &self,
        keys: &[Key<'_>],
        responses: Vec<ResponseOp>,
        revision: i64,
    ) -> Result<Vec<RecordState>, StoreError> {
        if responses.len() != 2 * keys.len() {
            return Err(self.client.place.corrupt("it sent too few or too many responses; is it etcd?"));
        }
        let mut found = responses.into_iter().map(|mut response| response.response_range.kvs.pop());
        let state = |key: &Key<'_>| match (found.next().flatten(), found.next().flatten()) {
            (Some(kv), _) => self.present(*key, &kv, revision),
            (None, floor) => {
                let (floor_revision, floor) = self.floor_in(key.namespace, floor.as_ref())?;
                Ok(RecordState::missing(floor, floor_revision, revision))
            }
        };
        keys.iter().map(state).collect()
    }

    fn present(&self, key: Key<'_>, kv: &KeyValue, revision: i64) -> Result<RecordState, StoreError> {
        let (header, data) = value::read_record(&kv.value.0).map_err(|unreadable| {
            let what = format!("the record of {:?} in the namespace {:?}", key.dependency, key.namespace);
            unreadable.error(&self.client.place, &what)
        })?;
        Ok(RecordState { mod_revision: kv.mod_revision, floor_revision: 0, header, data: Some(data), revision })
    }

    /// The floor of a namespace, after its revision; 0 where there is none.
    pub fn floor(&self, namespace: &str, until: Instant) -> Result<(i64, Floor), StoreError> {
        let reply = self.client.range(&RangeRequest::one(self.keys.floor(namespace)), until)?;
        self.floor_in(namespace, reply.answer.kvs.first())
    }

    fn floor_in(&self, namespace: &str, kv: Option<&KeyValue>) -> Result<(i64, Floor), StoreError> {
        let Some(kv) = kv else { return Ok((0, Floor::default())) };
        let floor = value::read(&kv.value.0).map_err(|unreadable| {
            unreadable.error(&self.client.place, &format!("the floor of the namespace {namespace:?}"))
        })?;
        Ok((kv.mod_revision, floor))
    }

    /// The keys and values of all records of a namespace as of one revision, which is returned with them.
    pub fn walk(&self, namespace: &str, until: Instant) -> Result<(Vec<KeyValue>, i64), StoreError> {
        self.walk_span(self.keys.records(namespace), until)
    }

    /// The same for any range of records.
    pub fn walk_span(&self, span: Span, until: Instant) -> Result<(Vec<KeyValue>, i64), StoreError> {
        let mut all = Vec::new();
        let mut request = RangeRequest { limit: PAGE, ..RangeRequest::all(span) };
        loop {
            let page = self.client.range(&request, until)?.answer;
            if request.revision == 0 {
                request.revision = page.header.revision;
            }
            all.extend(page.kvs);
            match all.last() {
                Some(last) if page.more => request.key.0 = [last.key.0.as_slice(), &[0]].concat(),
                _ => return Ok((all, request.revision)),
            }
        }
    }

    /// The last known state of a record, without data.
    pub fn cached(&self, key: Key<'_>) -> Option<RecordState> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).get(&self.keys.record(key)).cloned()
    }

    /// Caches the state of a record, without data.
    pub fn cache(&self, key: Key<'_>, state: &RecordState) {
        let state = RecordState { data: None, header: state.header.clone(), ..*state };
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).put(self.keys.record(key), state);
    }
}
