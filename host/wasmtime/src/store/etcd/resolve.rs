//! Whether a commit whose acknowledgement was lost was done: etcd is asked what was there before.

use std::time::Instant;

use super::super::{Key, StoreError};
use super::EtcdStore;
use super::change::Stamp;
use super::gateway::{TxnRequest, TxnResponse};
use super::look::Look;
use super::plan::Seen;

impl EtcdStore {
    /// The revision at which a commit was done, if it was. It compared a record with what was `before`; by `revision`
    /// somebody has changed that.
    ///
    /// Of all changes only the first can be the commit's own, and what was there never comes again: a record that was
    /// removed leaves its mark. So the first is looked for by halving, and tells by its id whose it is.
    pub(super) fn find(
        &self,
        key: Key<'_>,
        before: &Seen,
        revision: i64,
        stamp: &Stamp,
        until: Instant,
    ) -> Result<Option<i64>, StoreError> {
        let (mut unchanged, mut changed) = (before.revision, revision);
        while changed - unchanged > 1 {
            let middle = unchanged + (changed - unchanged) / 2;
            if is_changed(before, &self.as_of(key, middle, until)?) {
                changed = middle;
            } else {
                unchanged = middle;
            }
        }
        let first = self.as_of(key, changed, until)?;
        let by_record = first.record.is_some_and(|record| record.head.commit == stamp.commit);
        Ok((by_record || first.floor.commit == stamp.commit).then_some(changed))
    }

    /// A record as it was at a revision.
    fn as_of(&self, key: Key<'_>, revision: i64, until: Instant) -> Result<Seen, StoreError> {
        let keys = [key];
        let look = Look::at(&keys);
        let request = TxnRequest { success: look.requests(&self.keys, Some(revision)), ..TxnRequest::default() };
        // A revision that has been compacted away is among the errors.
        let answered = self.txn(&request, until).map_err(|unanswered| self.unresolved(&unanswered.error))?;
        let response: TxnResponse = answered.answer;
        let seen = look.read(&self.client.place, response.responses, revision)?.pop();
        seen.ok_or_else(|| self.client.place.corrupt("it gave no answer for a record"))
    }
}

/// Whether a commit that compares with what was `before` can no longer be done.
fn is_changed(before: &Seen, now: &Seen) -> bool {
    let record = |seen: &Seen| seen.record.as_ref().map_or(0, |record| record.mod_revision);
    record(before) != record(now) || (before.record.is_none() && before.floor.mod_revision != now.floor.mod_revision)
}
