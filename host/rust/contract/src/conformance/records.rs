//! One record: load and compare-and-set.

use super::subject::{Checked, Subject, ensure};
use crate::store::CommitOutcome;

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
    store.put("a", 0, b"first")?;
    store.put("a", 1, b"second")?;
    for based_on in [0, 1, 3, u64::from(u32::MAX)] {
        for data in [Some(&b"wrong"[..]), None] {
            store.must_be_stale(store.write("a", based_on, data))?;
            store.expect("a", 2, Some(b"second"), "after a write on another version")?;
        }
    }
    Ok(())
}

pub(super) fn stale_returns(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    let check = |dependency: &str, based_on, version, data: Option<&[u8]>| {
        let now = store.must_be_stale(store.write(dependency, based_on, Some(b"x")))?;
        ensure(now.version == version && now.data.as_deref() == data, || {
            format!("a stale write on {dependency:?} at version {version} returned {now:?}")
        })
    };
    store.put("a", 0, b"present")?;
    check("a", 0, 1, Some(b"present"))?;
    check("missing", 5, 0, None)?;
    store.remove("a", 1)?;
    check("a", 1, 2, None)
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
