//! Judging the writes of a commit on what was seen of their records. Nothing here speaks to etcd.

use super::super::{CommitOutcome, Key, Snapshot, Write};
use super::skew::Now;
use super::value::Head;
use crate::wire::Transition;

/// What was seen of a record.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub record: Option<Present>,
    pub floor: Ground,
    /// The revision at which it was so.
    pub revision: i64,
    /// Whether it was seen after the operation began, with the record's bytes; otherwise it is from memory, without them.
    pub fresh: bool,
}

/// A record that is there.
#[derive(Clone, Debug)]
pub(super) struct Present {
    pub mod_revision: i64,
    pub head: Head,
    pub data: Vec<u8>,
}

/// What stands for all records that a namespace does not have.
#[derive(Clone, Debug, Default)]
pub(super) struct Ground {
    /// 0 where none was ever removed.
    pub mod_revision: i64,
    pub version: u64,
    pub commit: String,
}

impl Seen {
    pub fn version(&self) -> u64 {
        self.record.as_ref().map_or(self.floor.version, |record| record.head.version)
    }

    pub fn without_data(&self) -> Seen {
        let record = self.record.as_ref().map(|record| Present {
            mod_revision: record.mod_revision,
            head: record.head.clone(),
            data: Vec::new(),
        });
        Seen { record, floor: self.floor.clone(), revision: self.revision, fresh: false }
    }

    /// What the component gets to see of it.
    pub fn snapshot(&self, now: Now) -> Snapshot {
        let at = now.after(self.record.as_ref().map_or(0, |record| record.head.at));
        let data = self.record.as_ref().map(|record| record.data.clone());
        Snapshot { version: self.version(), data, at: Some(at) }
    }
}

/// What all writes to one record come to, done together.
#[derive(Debug)]
pub(super) struct Change<'a> {
    pub key: Key<'a>,
    /// Which of the records it is.
    pub place: usize,
    pub version: u64,
    /// None removes it.
    pub data: Option<&'a [u8]>,
    /// The history as it was goes.
    pub cleared: bool,
    pub added: Vec<&'a Transition>,
    pub history: u64,
}

/// How the writes of a commit are judged.
#[derive(Debug)]
pub(super) enum Judged<'a> {
    /// One of them seems stale from memory; that has to be looked at.
    Unclear,
    /// The outcomes, once the changes are done.
    Clear { outcomes: Vec<CommitOutcome>, changes: Vec<Change<'a>> },
}

/// The records that writes speak of, each once, and for each write which it is.
pub(super) fn records<'a>(writes: &[Write<'a>]) -> (Vec<Key<'a>>, Vec<usize>) {
    let mut known = std::collections::HashMap::new();
    let mut keys = Vec::new();
    let places = writes.iter().map(|write| {
        *known.entry(write.key).or_insert_with(|| {
            keys.push(write.key);
            keys.len() - 1
        })
    });
    let places = places.collect();
    (keys, places)
}

/// Judges writes one after the other, each on what those before it leave; `places` says which record each is on.
pub(super) fn judge<'a>(writes: &[Write<'a>], places: &[usize], seen: &[Seen], now: Now) -> Judged<'a> {
    let mut changes: Vec<Option<Change<'a>>> = seen.iter().map(|_| None).collect();
    let mut outcomes = Vec::with_capacity(writes.len());
    for (write, &place) in writes.iter().zip(places) {
        let (Some(seen), Some(change)) = (seen.get(place), changes.get_mut(place)) else { continue };
        let version = change.as_ref().map_or(seen.version(), |change| change.version);
        if version != write.based_on {
            let snapshot = match change {
                Some(change) => Snapshot { data: change.data.map(<[u8]>::to_vec), version, at: seen.snapshot(now).at },
                None if seen.fresh => seen.snapshot(now),
                None => return Judged::Unclear,
            };
            outcomes.push(CommitOutcome::Stale(snapshot));
            continue;
        }
        let change = change.get_or_insert_with(|| Change {
            key: write.key,
            place,
            version,
            data: None,
            cleared: false,
            added: Vec::new(),
            history: 0,
        });
        change.version = write.version;
        change.data = write.data;
        change.history = write.history as u64;
        if write.data.is_some() {
            change.added.extend(write.transitions);
        } else {
            change.cleared = true;
            change.added.clear();
        }
        outcomes.push(CommitOutcome::Committed);
    }
    Judged::Clear { outcomes, changes: changes.into_iter().flatten().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Now = Now { at: 100, max_skew: 10 };

    fn key(dependency: &str) -> Key<'_> {
        Key { namespace: "n", dependency }
    }

    fn write<'a>(key: Key<'a>, based_on: u64, data: Option<&'a [u8]>) -> Write<'a> {
        Write { key, based_on, version: based_on + 1, data, transitions: &[], history: 10 }
    }

    fn at(version: u64, fresh: bool) -> Seen {
        let head = Head { version, at: 0, by: String::new(), commit: String::new(), counted: 0, first: 0 };
        let record = Some(Present { mod_revision: 5, head, data: b"seen".to_vec() });
        Seen { record, fresh, ..Seen::default() }
    }

    #[test]
    fn writes_on_one_record_become_one_change_and_each_is_judged_on_those_before() {
        let writes = [
            write(key("a"), 3, Some(b"4")),
            write(key("b"), 0, Some(b"1")),
            write(key("a"), 3, Some(b"lost")),
            write(key("a"), 4, None),
            write(key("a"), 5, Some(b"6")),
        ];
        let (keys, places) = records(&writes);
        assert_eq!((keys.len(), places.as_slice()), (2, &[0, 1, 0, 0, 0][..]));
        let Judged::Clear { outcomes, changes } = judge(&writes, &places, &[at(3, false), Seen::default()], NOW) else {
            panic!("what an earlier write left is known")
        };
        let lost = Snapshot { version: 4, data: Some(b"4".to_vec()), at: Some(100) };
        assert_eq!(outcomes[2], CommitOutcome::Stale(lost));
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == CommitOutcome::Committed).count(), 4);
        assert_eq!((changes[0].version, changes[0].data, changes[0].cleared), (6, Some(&b"6"[..]), true));
        assert_eq!((changes[1].version, changes[1].place), (1, 1));
    }

    #[test]
    fn nothing_is_stale_from_memory_alone() {
        let writes = [write(key("a"), 2, Some(b"x"))];
        assert!(matches!(judge(&writes, &[0], &[at(3, false)], NOW), Judged::Unclear));
        let Judged::Clear { outcomes, changes } = judge(&writes, &[0], &[at(3, true)], NOW) else {
            panic!("it was seen")
        };
        let now = Snapshot { version: 3, data: Some(b"seen".to_vec()), at: Some(100) };
        assert_eq!((outcomes, changes.len()), (vec![CommitOutcome::Stale(now)], 0));
    }
}
