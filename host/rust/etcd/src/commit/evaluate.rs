//! Evaluation of the writes of a commit on the states of their records. Sends nothing.

use std::collections::HashMap;

use halfopen_contract::store::{CommitOutcome, Key, Snapshot, Write};

use crate::clock::Now;
use crate::records::RecordState;

/// The change of one record by all writes to it.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub key: Key<'a>,
    /// The index of the record.
    pub index: usize,
    pub version: u64,
    /// The new bytes; none removes the record.
    pub data: Option<&'a [u8]>,
    /// Whether the history before the change goes.
    pub clears_history: bool,
    /// The transitions of the removals, each with its version and its index in the write.
    pub removals: Vec<(u64, usize, &'a String)>,
    pub added: Vec<&'a String>,
    pub history: u64,
}

/// The keys of the writes, each once, and the index of the key of each write.
pub(super) fn keys<'a>(writes: &[Write<'a>]) -> (Vec<Key<'a>>, Vec<usize>) {
    let mut known = HashMap::new();
    let mut keys = Vec::new();
    let index = |write: &Write<'a>| {
        *known.entry(write.key).or_insert_with(|| {
            keys.push(write.key);
            keys.len() - 1
        })
    };
    let indices = writes.iter().map(index).collect();
    (keys, indices)
}

/// The outcomes of the writes, and the changes that must be done for them; `indices` are those of [`keys`].
pub(super) fn evaluate<'a>(
    writes: &[Write<'a>],
    indices: &[usize],
    states: &[RecordState],
    now: Now,
) -> (Vec<CommitOutcome>, Vec<Change<'a>>) {
    let mut changes: Vec<Option<Change<'a>>> = states.iter().map(|_| None).collect();
    let mut outcomes = Vec::with_capacity(writes.len());
    for (write, &index) in writes.iter().zip(indices) {
        let (state, change) = (&states[index], &mut changes[index]);
        let version = change.as_ref().map_or(state.header.version, |change| change.version);
        if version != write.based_on {
            outcomes.push(CommitOutcome::Stale(match change {
                Some(change) => Snapshot { version, data: change.data.map(<[u8]>::to_vec), at: Some(state.time(now)) },
                None => state.snapshot(now),
            }));
            continue;
        }
        let change = change.get_or_insert_with(|| Change {
            key: write.key,
            index,
            version,
            data: None,
            clears_history: false,
            removals: Vec::new(),
            added: Vec::new(),
            history: 0,
        });
        change.version = write.version;
        change.data = write.data;
        change.history = write.history as u64;
        if write.data.is_some() {
            change.added.extend(write.transitions);
        } else {
            change.clears_history = true;
            change.added.clear();
            let removals = write.transitions.iter().enumerate();
            change.removals.extend(removals.map(|(index, transition)| (write.version, index, transition)));
        }
        outcomes.push(CommitOutcome::Committed);
    }
    (outcomes, changes.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests;
