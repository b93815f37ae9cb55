//! One record: load and compare-and-set.

use super::subject::{Checked, Subject, ensure, transition};
use crate::store::{CommitOutcome, Write};

pub(super) fn missing(subject: &Subject<'_>) -> Checked {
    subject.open().expect("never written", 0, None, "in a namespace that was never written")
}

pub(super) fn last_commit(subject: &Subject<'_>) -> Checked {
    let (store, other) = (subject.open(), subject.open());
    for version in 0..20u64 {
        let data = version.to_be_bytes();
        store.put("a", version, &data)?;
        store.expect("a", version + 1, Some(&data), "right after a commit")?;
        other.expect("a", version + 1, Some(&data), "right after a commit, in another instance")?;
    }
    Ok(())
}

pub(super) fn bytes(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    let all: Vec<u8> = (0..=255).collect();
    let large = vec![7; 100_000];
    let samples: [&[u8]; 6] = [b"", b"\0", b"text", &all, &[0xff, 0xfe, 0x00, 0x80], &large];
    for (version, data) in (0..).zip(samples) {
        store.put("a", version, data)?;
        store.expect("a", version + 1, Some(data), "after a write")?;
    }
    Ok(())
}

pub(super) fn stale(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    store.put_with("a", 0, [1], 10)?;
    store.put("a", 1, b"second")?;
    let added = [transition(2)];
    for based_on in [0, 1, 3, u64::from(u32::MAX)] {
        for data in [Some(&b"wrong"[..]), None] {
            store.must_be_stale(Write { transitions: &added, ..store.write("a", based_on, data) })?;
            store.expect("a", 2, Some(b"second"), "after a write on another version")?;
        }
    }
    store.expect_history("a", 100, [1], "after writes on other versions")?;
    store.must_be_stale(store.write("missing", 5, Some(b"x")))?;
    store.expect("missing", 0, None, "after a write on another version")?;
    store.remove("a", 2)?;
    store.must_be_stale(store.write("a", 2, Some(b"x")))?;
    store.expect("a", 3, None, "after a write on the version before its removal")
}

pub(super) fn several(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    store.put("taken", 0, b"theirs")?;
    let writes = [
        store.write("a", 0, Some(b"a1")),
        store.write("taken", 0, Some(b"mine")),
        store.write("a", 1, None),
        store.write("b", 0, Some(b"b1")),
        store.write("a", 1, Some(b"wrong")),
        store.write("a", 2, Some(b"a3")),
    ];
    let outcomes = store.commit(&writes)?;
    let done: Vec<bool> = outcomes.iter().map(|outcome| *outcome == CommitOutcome::Committed).collect();
    ensure(done == [true, false, true, true, false, true], || {
        format!("of six writes the 2nd and the 5th are stale; the outcomes were {outcomes:?}")
    })?;
    store.expect("a", 3, Some(b"a3"), "after three writes in one commit")?;
    store.expect("b", 1, Some(b"b1"), "after a commit in which another write was stale")?;
    store.expect("taken", 1, Some(b"theirs"), "after a stale write among others")?;
    let none = store.commit(&[])?;
    ensure(none.is_empty(), || format!("a commit of no writes had outcomes: {none:?}"))
}
