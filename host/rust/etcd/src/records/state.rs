use halfopen_contract::store::Snapshot;

use super::value::{Floor, Header};
use crate::clock::Now;

/// The state of a record at a revision of etcd.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordState {
    /// The revision of the record's last write; 0 where the record has no key.
    pub mod_revision: i64,
    /// The revision of the floor that gives the version of a record without a key; 0 where there is no floor.
    pub floor_revision: i64,
    pub header: Header,
    /// The bytes; none where the record is removed, and in the cache.
    pub data: Option<Vec<u8>>,
    /// The revision at which the state was read.
    pub revision: i64,
}

impl RecordState {
    /// The state of a record without a key.
    pub fn missing(floor: Floor, floor_revision: i64, revision: i64) -> RecordState {
        let header = Header { version: floor.version, ..Header::default() };
        RecordState { mod_revision: 0, floor_revision, header, data: None, revision }
    }

    /// The time for this record.
    pub fn time(&self, now: Now) -> u64 {
        now.after(self.header.at)
    }

    /// The record as the engine sees it.
    pub fn snapshot(&self, now: Now) -> Snapshot {
        Snapshot { version: self.header.version, data: self.data.clone(), at: Some(self.time(now)) }
    }

    /// Whether a commit that compares with this state can no longer be done, as the state is now `other`.
    pub fn differs(&self, other: &RecordState) -> bool {
        self.mod_revision != other.mod_revision
            || (self.mod_revision == 0 && self.floor_revision != other.floor_revision)
    }
}
