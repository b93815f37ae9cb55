use super::*;
use crate::records::value::Header;

const NOW: Now = Now { at: 100, max_skew: 10 };

fn key(dependency: &str) -> Key<'_> {
    Key { namespace: "n", dependency }
}

fn write<'a>(key: Key<'a>, based_on: u64, data: Option<&'a [u8]>) -> Write<'a> {
    Write { key, based_on, version: based_on + 1, data, transitions: &[], history: 10 }
}

fn state(version: u64) -> RecordState {
    let header = Header { version, ..Header::default() };
    RecordState { mod_revision: 5, header, data: Some(b"read".to_vec()), ..RecordState::default() }
}

#[test]
fn writes_on_one_record_become_one_change() {
    let transitions = ["before", "removed", "after"].map(|text| vec![text.to_owned()]);
    let writes = [
        Write { transitions: &transitions[0], ..write(key("a"), 3, Some(b"4")) },
        write(key("b"), 0, Some(b"1")),
        write(key("a"), 3, Some(b"lost")),
        Write { transitions: &transitions[1], ..write(key("a"), 4, None) },
        Write { transitions: &transitions[2], ..write(key("a"), 5, Some(b"6")) },
    ];
    let (keys, indices) = keys(&writes);
    assert_eq!((keys.len(), indices.as_slice()), (2, &[0, 1, 0, 0, 0][..]));
    let (outcomes, changes) = evaluate(&writes, &indices, &[state(3), RecordState::default()], NOW);
    let lost = Snapshot { version: 4, data: Some(b"4".to_vec()), at: Some(100) };
    assert_eq!(outcomes[2], CommitOutcome::Stale(lost));
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == CommitOutcome::Committed).count(), 4);
    assert_eq!((changes[0].version, changes[0].data, changes[0].clears_history), (6, Some(&b"6"[..]), true));
    assert_eq!((changes[1].version, changes[1].index), (1, 1));
    assert_eq!(changes[0].added, ["after"]);
    assert_eq!(changes[0].removals, [(5, 0, &"removed".to_owned())]);
}

#[test]
fn a_stale_write_changes_nothing_and_shows_the_record() {
    let writes = [write(key("a"), 2, Some(b"x"))];
    let (outcomes, changes) = evaluate(&writes, &[0], &[state(3)], NOW);
    let now = Snapshot { version: 3, data: Some(b"read".to_vec()), at: Some(100) };
    assert_eq!((outcomes, changes.len()), (vec![CommitOutcome::Stale(now)], 0));
}
