//! The transaction of a commit: its comparisons, its operations, and the states after it.

use super::evaluate::Change;
use crate::client::messages::{Compare, RequestOp};
use crate::clock::Now;
use crate::records::RecordState;
use crate::records::keys::Keys;
use crate::records::value::{self, Chunk, Header};

/// A transaction that does changes, unless a record has changed since its state was read.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    pub compare: Vec<Compare>,
    pub success: Vec<RequestOp>,
    /// The headers after the transaction, by the indices of their records.
    pub after: Vec<(usize, Header)>,
    /// The transitions so far, over all records.
    transitions: u64,
}

impl Transaction {
    pub fn new(keys: &Keys, changes: &[Change<'_>], states: &[RecordState], commit: &str, now: Now) -> Self {
        let mut transaction = Transaction::default();
        for change in changes {
            transaction.add(keys, change, &states[change.index], commit, now);
        }
        transaction
    }

    fn add(&mut self, keys: &Keys, change: &Change<'_>, state: &RecordState, commit: &str, now: Now) {
        self.compare.push(Compare::is_at(keys.record(change.key), state.mod_revision));
        if state.mod_revision == 0 {
            self.compare.push(Compare::is_at(keys.floor(change.key.namespace), state.floor_revision));
        }
        let (base, kept_from) = (state.header.counted, state.header.first);
        let counted = base + change.added.len() as u64;
        let first = counted.saturating_sub(change.history).max(if change.clears_history { base } else { kept_from });
        let header = Header {
            namespace: change.key.namespace.to_owned(),
            dependency: change.key.dependency.to_owned(),
            version: change.version,
            at: state.time(now),
            commit: commit.to_owned(),
            counted,
            first,
        };
        self.success.push(RequestOp::put(keys.record(change.key), value::write_record(&header, change.data)));
        self.after.push((change.index, header));
        // The chunks whose transitions are all before the first; readers skip those at the start of the next one.
        if first > kept_from && base > 0 {
            let gone = (keys.chunk(change.key, 0), keys.chunk(change.key, first.min(base) + 1));
            self.success.push(RequestOp::delete_all(gone));
        }
        let chunk = |end, offset, transitions| {
            let dependency = change.key.dependency.to_owned();
            Chunk { dependency, end, offset, transitions }
        };
        // One key each, so that the newest can be counted.
        for (version, index, transition) in &change.removals {
            let chunk = chunk(0, self.transitions, vec![(*transition).clone()]);
            self.success.push(RequestOp::put(keys.removal(change.key, *version, *index), value::write(&chunk)));
            self.transitions += 1;
        }
        let skipped = first.saturating_sub(base);
        let kept = change.added.get(skipped as usize..).unwrap_or_default();
        if !kept.is_empty() {
            let transitions = kept.iter().map(|transition| (*transition).clone()).collect();
            let chunk = chunk(counted, self.transitions + skipped, transitions);
            self.success.push(RequestOp::put(keys.chunk(change.key, counted), value::write(&chunk)));
        }
        self.transitions += change.added.len() as u64;
    }
}
