//! Records in etcd: their keys and values, and reads of their states.

pub(crate) mod keys;
mod state;
pub(crate) mod value;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use halfopen_contract::store::{Key, StoreError};
use halfopen_contract::time::Clock;
use lru::LruCache;

use crate::client::Client;
use crate::client::messages::{Answer, KeyValue, RangeRequest, RequestOp, Span, TxnRequest};
use crate::options::EtcdOptions;
use keys::Keys;
pub(crate) use state::RecordState;
use value::Floor;

/// The states in the cache, at most.
const CACHED: NonZeroUsize = NonZeroUsize::new(8_192).unwrap();

/// The records of a store.
pub(crate) struct Records {
    pub client: Client,
    pub keys: Keys,
    /// The last known states, without data, so that a commit needs no read. A stale one does no harm: the commit
    /// compares.
    cache: Mutex<LruCache<Vec<u8>, RecordState>>,
}

impl Records {
    pub fn new(options: &EtcdOptions, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let cache = Mutex::new(LruCache::new(CACHED));
        Ok(Records { client: Client::new(options, clock)?, keys: Keys::new(&options.prefix), cache })
    }

    /// Reads the states of records.
    pub fn read(&self, keys: &[Key<'_>], until: Instant) -> Result<Vec<RecordState>, StoreError> {
        let states = self.read_at(keys, 0, until)?;
        keys.iter().zip(&states).for_each(|(key, state)| self.cache(*key, state));
        Ok(states)
    }

    /// Reads the states of records at a revision; 0 reads the present.
    pub fn read_at(&self, keys: &[Key<'_>], revision: i64, until: Instant) -> Result<Vec<RecordState>, StoreError> {
        let request = TxnRequest { success: self.requests(keys, revision), ..TxnRequest::default() };
        self.states(keys, self.client.txn(&request, until)?)
    }

    /// The requests for the states of records, each with the floor of its namespace; at a revision; 0 reads the
    /// present.
    pub fn requests(&self, keys: &[Key<'_>], revision: i64) -> Vec<RequestOp> {
        let names = keys.iter().flat_map(|key| [self.keys.record(*key), self.keys.floor(key.namespace)]);
        names.map(|key| RequestOp::Range(RangeRequest { revision, ..RangeRequest::one(key) })).collect()
    }

    /// The states in the answer to [`requests`](Records::requests).
    pub fn states(&self, keys: &[Key<'_>], answer: Answer) -> Result<Vec<RecordState>, StoreError> {
        let (place, revision) = (&self.client.place, answer.header.revision);
        if answer.responses.len() != 2 * keys.len() {
            return Err(place.corrupt("it sent too few or too many responses; is it etcd?"));
        }
        let mut found = answer.responses.into_iter().map(|mut response| response.response_range.kvs.pop());
        let state = |_| match (found.next().flatten(), found.next().flatten()) {
            (Some(kv), _) => {
                let (header, data) = value::read_record(place, &kv)?;
                Ok(RecordState { mod_revision: kv.mod_revision, floor_revision: 0, header, data, revision })
            }
            (None, floor) => {
                let (floor_revision, floor) = self.floor_in(floor.as_ref())?;
                Ok(RecordState::missing(floor, floor_revision, revision))
            }
        };
        keys.iter().map(state).collect()
    }

    /// The floor of a namespace, after its revision; 0 where there is none.
    pub fn floor(&self, namespace: &str, until: Instant) -> Result<(i64, Floor), StoreError> {
        let answer = self.client.range(&RangeRequest::one(self.keys.floor(namespace)), until)?;
        self.floor_in(answer.kvs.first())
    }

    fn floor_in(&self, kv: Option<&KeyValue>) -> Result<(i64, Floor), StoreError> {
        let Some(kv) = kv else { return Ok((0, Floor::default())) };
        Ok((kv.mod_revision, value::read(&self.client.place, &kv.key.0, &kv.value.0)?))
    }

    /// All records of a range, also the removed ones, and the revision.
    pub fn all(&self, span: Span, until: Instant) -> Result<(Vec<KeyValue>, i64), StoreError> {
        let answer = self.client.range(&RangeRequest::all(span), until)?;
        Ok((answer.kvs, answer.header.revision))
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
