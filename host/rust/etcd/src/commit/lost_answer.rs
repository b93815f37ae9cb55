//! Whether a commit whose acknowledgement was lost was done: etcd knows the records of the past.

use std::time::Instant;

use halfopen_contract::store::{Key, StoreError};

use super::transaction::Stamp;
use crate::client::messages::TxnRequest;
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
    stamp: &Stamp,
    until: Instant,
) -> Result<Option<i64>, StoreError> {
    let (mut unchanged, mut changed) = (before.revision, revision);
    while changed - unchanged > 1 {
        let middle = unchanged + (changed - unchanged) / 2;
        if before.differs(&state_at(records, key, middle, until)?) {
            changed = middle;
        } else {
            unchanged = middle;
        }
    }
    let first = state_at(records, key, changed, until)?;
    Ok((first.header.commit == stamp.commit).then_some(changed))
}

/// The state of a record at a revision.
fn state_at(records: &Records, key: Key<'_>, revision: i64, until: Instant) -> Result<RecordState, StoreError> {
    let errors = &records.client.errors;
    let request = TxnRequest { success: records.requests(&[key], revision), ..TxnRequest::default() };
    // A revision that etcd has compacted is one of the errors.
    let reply = records.client.txn(&request, until).map_err(|no_reply| errors.in_doubt(&no_reply.error))?;
    let state = records.states(&[key], reply.answer.responses, revision)?.pop();
    state.ok_or_else(|| errors.corrupt("it returned nothing for a record"))
}
