use halfopen_contract::engine::{Answer, ProposedWrite};

use super::*;

fn reads() -> Evaluation {
    Evaluation { answer: Answer::Pruned(false), write: None }
}

fn writes(data: Option<&[u8]>) -> Evaluation {
    let data = data.map(<[u8]>::to_vec);
    let write = ProposedWrite { commits: 1, data, transitions: vec!["{}".to_owned()] };
    Evaluation { write: Some(write), ..reads() }
}

#[test]
fn operations_on_one_record_become_one_write() {
    let mut record = BatchRecord::new(Snapshot { version: 7, data: None, at: None });
    assert_eq!(record.add(0, writes(Some(b"a"))), Ok(None));
    assert_eq!(record.add(1, writes(Some(b"b"))), Ok(None));
    let [write] = record.writes.as_slice() else { panic!("{} writes", record.writes.len()) };
    assert_eq!((write.based_on, write.version), (7, 9));
    assert_eq!(write.data.as_deref(), Some(&b"b"[..]));
    assert_eq!((write.transitions.len(), write.waiters.len()), (2, 2));
    assert_eq!(record.snapshot.version, 9);
}

#[test]
fn a_write_after_a_removal_stands_by_itself() {
    let mut record = BatchRecord::new(Snapshot::default());
    for (index, data) in [Some(&b"a"[..]), None, Some(b"b")].into_iter().enumerate() {
        record.add(index, writes(data)).unwrap();
    }
    let versions: Vec<_> = record.writes.iter().map(|w| (w.based_on, w.version, w.data.is_some())).collect();
    assert_eq!(versions, [(0, 2, false), (2, 3, true)]);
}

#[test]
fn an_answer_that_saw_a_neighbours_write_waits_for_it() {
    let mut record = BatchRecord::new(Snapshot::default());
    assert!(record.add(0, reads()).unwrap().is_some(), "it rests on no write");
    record.add(1, writes(Some(b"a"))).unwrap();
    assert_eq!(record.add(2, reads()), Ok(None), "it rests on a write that is not durable");
    assert_eq!(record.writes[0].waiters.len(), 2);
}

#[test]
fn a_record_at_the_highest_version_is_not_written() {
    let mut record = BatchRecord::new(Snapshot { version: u64::MAX, data: None, at: None });
    assert!(matches!(record.add(0, writes(Some(b"a"))), Err(StoreError::Corrupt { .. })));
    assert!(record.writes.is_empty());
}
