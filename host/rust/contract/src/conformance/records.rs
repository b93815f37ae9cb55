//! One record: load and compare-and-set.

use std::thread;
use std::time::Duration;

use super::subject::{Checked, Subject, ensure, transition};
use crate::store::{CommitOutcome, Write};

pub(super) fn last_commit(subject: &Subject<'_>) -> Checked {
    let (store, other) = (subject.open(), subject.open());
    store.expect("a", 0, None, "in a namespace that was never written")?;
    for version in 0..20 {
        store.put_with("a", version, [version], 100)?;
        let opened = [(&store, "the same"), (&other, "another"), (&subject.open(), "a new")];
        for (store, which) in opened {
            let when = format!("right after a commit, in {which} instance");
            store.expect("a", version + 1, Some(b"x"), &when)?;
            store.expect_history("a", 100, 0..=version, &when)?;
        }
    }
    store.remove("a", 20)?;
    subject.open().expect("a", 21, None, "right after a removal, in a new instance")
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
    store.expect("missing", 0, None, "after a write on another version")
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

/// A record that goes while a lease lives lets a second probe in.
pub(super) fn untouched(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    store.put_with("kept", 0, 0..2, 100)?;
    store.put("gone", 0, b"x")?;
    store.remove("gone", 1)?;
    // A little longer than a lease lasts by default.
    thread::sleep(Duration::from_millis(5_500));
    store.expect("kept", 1, Some(b"x"), "after some seconds")?;
    store.expect("gone", 2, None, "some seconds after its removal")?;
    store.expect_history("kept", 100, 0..2, "after some seconds")
}
