//! Whether a commit whose acknowledgement was lost was done: etcd knows the records of the past.

use std::time::Instant;

use halfopen_contract::store::{Key, StoreError};

use crate::records::{RecordState, Records};

/// The revision at which a commit was done, if it was. It compared a record with the state `before`; at `revision` the
/// record is known to differ.
///
/// Only the first change since can be the commit's own, and a state never returns: a record keeps its key until a floor
/// replaces it. So the first change is found by bisection, and its id shows which commit it was.
pub(super) fn find(
    records: &Records,
    key: Key<'_>,
    before: &RecordState,
    revision: i64,
    commit: &str,
    until: Instant,
) -> Result<Option<i64>, StoreError> {
    // A revision that etcd has compacted is one of the errors.
    let state_at = |revision| {
        let read = records.read_at(&[key], revision, until);
        read.map_err(|error| records.client.place.in_doubt(format!("the answer was lost: {error}")))
    };
    let (mut unchanged, mut changed) = (before.revision, revision);
    while changed - unchanged > 1 {
        let middle = unchanged + (changed - unchanged) / 2;
        if state_at(middle)?.iter().any(|state| before.differs(state)) {
            changed = middle;
        } else {
            unchanged = middle;
        }
    }
    Ok(state_at(changed)?.iter().any(|first| first.header.commit == commit).then_some(changed))
}
