//! Turning changes into a transaction: what it compares, what it does, and what is then known.

use super::super::Key;
use super::gateway::{Compare, RequestOp};
use super::keys::Keys;
use super::plan::{Change, Ground, Present, Seen};
use super::skew::Now;
use super::value::{self, CHUNK, Chunk, Floor, Head};
use crate::wire::Transition;

/// What a commit writes beside the data.
#[derive(Debug)]
pub(super) struct Stamp {
    /// Its own id, by which it is recognised when its acknowledgement was lost.
    pub commit: String,
    pub by: String,
    pub now: Now,
}

/// A transaction that does changes, if nobody has written since they were seen.
#[derive(Debug, Default)]
pub(super) struct Transaction {
    pub compare: Vec<Compare>,
    pub success: Vec<RequestOp>,
    /// What is then known of the changed records, but for the revision; by their places.
    pub after: Vec<(usize, Seen)>,
}

impl Transaction {
    pub fn of(keys: &Keys, changes: &[Change<'_>], seen: &[Seen], stamp: &Stamp) -> Self {
        let mut transaction = Transaction::default();
        let mut floors: Vec<(&str, Ground)> = Vec::new();
        let mut offset = 0;
        for change in changes {
            let Some(seen) = seen.get(change.place) else { continue };
            let known = seen.record.as_ref();
            transaction
                .compare
                .push(Compare::is_at(keys.record(change.key), known.map_or(0, |record| record.mod_revision)));
            // A record may only be made while nothing was removed since: its version would come again.
            if known.is_none() || change.data.is_none() {
                let namespace = change.key.namespace;
                let index = floors.iter().position(|(other, _)| *other == namespace).unwrap_or_else(|| {
                    let at = seen.floor.mod_revision;
                    transaction.compare.push(Compare::is_at(keys.floor(namespace), at));
                    floors.push((namespace, Ground { commit: String::new(), ..seen.floor.clone() }));
                    floors.len() - 1
                });
                if let (None, Some((_, floor))) = (change.data, floors.get_mut(index)) {
                    floor.version = floor.version.max(change.version);
                    floor.commit.clone_from(&stamp.commit);
                }
            }
            let record = match change.data {
                Some(data) => Some(transaction.put(keys, change, seen, data, stamp, &mut offset)),
                None => {
                    if known.is_some() {
                        transaction.success.push(RequestOp::delete(keys.record(change.key)));
                        transaction.success.push(RequestOp::delete_all(keys.chunks(change.key)));
                    }
                    None
                }
            };
            transaction.after.push((change.place, Seen { record, floor: seen.floor.clone(), ..Seen::default() }));
        }
        for (namespace, floor) in floors.into_iter().filter(|(_, floor)| !floor.commit.is_empty()) {
            let content = Floor { version: floor.version, commit: floor.commit };
            transaction.success.push(RequestOp::put(keys.floor(namespace), value::write(&content)));
        }
        transaction
    }

    /// Writes a record and what it adds to its history; what is then there.
    fn put(
        &mut self,
        keys: &Keys,
        change: &Change<'_>,
        seen: &Seen,
        data: &[u8],
        stamp: &Stamp,
        offset: &mut u64,
    ) -> Present {
        let known = seen.record.as_ref().map(|record| &record.head);
        let (base, kept_from) = known.map_or((0, 0), |head| (head.counted, head.first));
        let counted = base + change.added.len() as u64;
        let first = counted.saturating_sub(change.history).max(if change.cleared { base } else { kept_from });
        let head = Head {
            version: change.version,
            at: stamp.now.after(known.map_or(0, |head| head.at)),
            by: stamp.by.clone(),
            commit: stamp.commit.clone(),
            counted,
            first,
        };
        self.success.push(RequestOp::put(keys.record(change.key), value::write_record(&head, data)));
        // A chunk that holds one that is kept stays whole; readers leave out what is before the first.
        let gone = if change.cleared { base } else { first.saturating_sub(CHUNK - 1) };
        if first > kept_from && gone > 0 {
            let span = (keys.chunk(change.key, 0), keys.chunk(change.key, gone));
            self.success.push(RequestOp::delete_all(span));
        }
        self.append(keys, change.key, base, first, &change.added, *offset);
        *offset += change.added.len() as u64;
        Present { mod_revision: 0, head, data: Vec::new() }
    }

    /// Adds transitions to the history: numbered from `base`, those from `first` on.
    fn append(&mut self, keys: &Keys, key: Key<'_>, base: u64, first: u64, added: &[&Transition], offset: u64) {
        let skipped = first.saturating_sub(base);
        let kept = added.get(skipped as usize..).unwrap_or_default();
        for (index, transitions) in (0..).zip(kept.chunks(CHUNK as usize)) {
            let before = skipped + index * CHUNK;
            let transitions = transitions.iter().map(|transition| (*transition).clone()).collect();
            let chunk = Chunk { offset: offset + before, transitions };
            self.success.push(RequestOp::put(keys.chunk(key, base + before), value::write(&chunk)));
        }
    }
}
