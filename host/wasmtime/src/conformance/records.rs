//! One record: load, compare-and-set, versions, removal.

use super::{Obligation, Subject, expect, fine, load, put};
use crate::store::{CommitOutcome, Key, Write};

pub(super) const ALL: &[Obligation] = &[
    Obligation { name: "a missing record has version 0 and no data", check: missing },
    Obligation { name: "a load shows what was last committed", check: last_committed },
    Obligation { name: "data comes back byte for byte", check: bytes },
    Obligation { name: "a write on an old version changes nothing", check: stale },
    Obligation { name: "a stale write is told the record as it is", check: stale_shows },
    Obligation { name: "a version may rise by more than one", check: leaps },
    Obligation { name: "versions go on after a removal", check: removal },
    Obligation { name: "a removal of a missing record raises its version", check: removal_of_nothing },
    Obligation { name: "versions go on after what is kept of removed records is dropped", check: compaction },
    Obligation { name: "versions go on after a namespace is removed", check: namespace_removal },
    Obligation { name: "a write based on what was there before a namespace was removed is stale", check: revival },
    Obligation { name: "each write of a commit is judged for itself, in order", check: many },
    Obligation { name: "a lock shows what was written inside, and nothing outside before it is finished", check: lock },
    Obligation { name: "a lock that is dropped leaves nothing behind", check: lock_dropped },
];

fn missing(subject: &Subject<'_>) -> Result<(), String> {
    expect(&*subject.open(), subject.key("never written"), 0, None, "in a namespace that was never written")
}

fn last_committed(subject: &Subject<'_>) -> Result<(), String> {
    let (store, other) = (subject.open(), subject.open());
    let key = subject.key("a");
    for version in 0..20u64 {
        let data = version.to_be_bytes();
        put(&*store, key, version, Some(&data))?;
        expect(&*store, key, version + 1, Some(&data), "right after a commit")?;
        expect(&*other, key, version + 1, Some(&data), "right after a commit, looked at by another")?;
    }
    Ok(())
}

fn bytes(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let all: Vec<u8> = (0..=255).collect();
    let large = vec![7; 100_000];
    let samples: [&[u8]; 6] = [b"", b"\0", b"text", &all, &[0xff, 0xfe, 0x00, 0x80], &large];
    for (version, data) in samples.iter().enumerate() {
        put(&*store, subject.key("a"), version as u64, Some(data))?;
        expect(&*store, subject.key("a"), version as u64 + 1, Some(data), "after a write")?;
    }
    Ok(())
}

fn stale(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let key = subject.key("a");
    put(&*store, key, 0, Some(b"first"))?;
    put(&*store, key, 1, Some(b"second"))?;
    for based_on in [0, 1, 3, u64::from(u32::MAX)] {
        for data in [Some(&b"wrong"[..]), None] {
            let write = Write { key, based_on, version: based_on + 1, data, transitions: &[], history: 10 };
            let outcomes = fine(store.commit(&[write]))?;
            if !matches!(outcomes.as_slice(), [CommitOutcome::Stale(_)]) {
                return Err(format!("a write based on version {based_on} of a record at 2 came to {outcomes:?}"));
            }
            expect(&*store, key, 2, Some(b"second"), "after a write on another version")?;
        }
    }
    Ok(())
}

fn stale_shows(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let check = |dependency: &str, based_on, version, data: Option<&[u8]>| {
        let key = subject.key(dependency);
        let write = Write { key, based_on, version: based_on + 1, data: Some(b"x"), transitions: &[], history: 10 };
        match fine(store.commit(&[write]))?.as_slice() {
            [CommitOutcome::Stale(now)] if now.version == version && now.data.as_deref() == data => Ok(()),
            other => Err(format!("a stale write on {dependency:?} at version {version} was told {other:?}")),
        }
    };
    put(&*store, subject.key("a"), 0, Some(b"present"))?;
    check("a", 0, 1, Some(b"present"))?;
    check("missing", 5, 0, None)?;
    put(&*store, subject.key("a"), 1, None)?;
    check("a", 1, 2, None)
}

fn leaps(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let key = subject.key("a");
    for (based_on, version) in [(0, 7), (7, 8), (8, 1_000_000_007)] {
        let write = Write { key, based_on, version, data: Some(b"x"), transitions: &[], history: 10 };
        if fine(store.commit(&[write]))? != [CommitOutcome::Committed] {
            return Err(format!("a write from version {based_on} to {version} was not done"));
        }
        expect(&*store, key, version, Some(b"x"), "after a write that leaps")?;
    }
    Ok(())
}

fn removal(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let key = subject.key("a");
    put(&*store, key, 0, Some(b"x"))?;
    put(&*store, key, 1, None)?;
    expect(&*store, key, 2, None, "after a removal")?;
    if fine(store.list(subject.space()))?.contains(&"a".to_owned()) {
        return Err("a removed record is still listed".to_owned());
    }
    let write = Write { key, based_on: 0, version: 1, data: Some(b"old"), transitions: &[], history: 10 };
    if !matches!(fine(store.commit(&[write]))?.as_slice(), [CommitOutcome::Stale(_)]) {
        return Err("after a removal, a version came again that was given before".to_owned());
    }
    put(&*store, key, 2, Some(b"new"))?;
    expect(&*store, key, 3, Some(b"new"), "after it was made anew")
}

fn compaction(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let [gone, here] = ["gone", "here"].map(|dependency| subject.key(dependency));
    put(&*store, here, 0, Some(b"here"))?;
    for version in 0..5 {
        put(&*store, gone, version, Some(b"x"))?;
    }
    put(&*store, gone, 5, None)?;
    fine(store.compact(subject.space()))?;
    expect(&*store, here, 1, Some(b"here"), "after compaction")?;
    let missing = load(&*store, gone)?;
    if missing.version < 6 || missing.data.is_some() {
        return Err(format!("a record that was removed at version 6 is {missing:?} after compaction"));
    }
    put(&*store, gone, missing.version, Some(b"again"))?;
    expect(&*store, gone, missing.version + 1, Some(b"again"), "written again after compaction")
}

fn removal_of_nothing(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    for version in 0..3 {
        put(&*store, subject.key("a"), version, None)?;
        expect(&*store, subject.key("a"), version + 1, None, "after a removal of nothing")?;
    }
    Ok(())
}

fn namespace_removal(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    for version in 0..5 {
        put(&*store, subject.key("a"), version, Some(b"x"))?;
    }
    put(&*store, subject.key("b"), 0, Some(b"x"))?;
    put(&*store, subject.key("b"), 1, None)?;
    for round in 0..2 {
        fine(store.remove_namespace(subject.space()))?;
        if !fine(store.list(subject.space()))?.is_empty() {
            return Err("a removed namespace still lists records".to_owned());
        }
        for (dependency, highest) in [("a", 5 + round), ("b", 2 + round)] {
            let found = load(&*store, subject.key(dependency))?;
            if found.data.is_some() || found.version < highest {
                return Err(format!(
                    "after its namespace was removed, a record whose highest version was {highest} has version {} and {}",
                    found.version,
                    if found.data.is_some() { "data" } else { "no data" }
                ));
            }
            put(&*store, subject.key(dependency), found.version, Some(b"y"))?;
        }
    }
    Ok(())
}

fn revival(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    put(&*store, subject.key("a"), 0, Some(b"x"))?;
    fine(store.remove_namespace(subject.space()))?;
    let write =
        Write { key: subject.key("a"), based_on: 1, version: 2, data: Some(b"back"), transitions: &[], history: 10 };
    match fine(store.commit(&[write]))?.as_slice() {
        [CommitOutcome::Stale(_)] => Ok(()),
        _ => Err("a write that was based on a record as it was brought it back to life".to_owned()),
    }
}

fn many(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let key = |dependency| subject.key(dependency);
    put(&*store, key("taken"), 0, Some(b"theirs"))?;
    fn write<'a>(key: Key<'a>, based_on: u64, data: Option<&'a [u8]>) -> Write<'a> {
        Write { key, based_on, version: based_on + 1, data, transitions: &[], history: 10 }
    }
    let writes = [
        write(key("a"), 0, Some(b"a1")),
        write(key("taken"), 0, Some(b"mine")),
        write(key("a"), 1, None),
        write(key("b"), 0, Some(b"b1")),
        write(key("a"), 1, Some(b"wrong")),
        write(key("a"), 2, Some(b"a3")),
    ];
    let outcomes = fine(store.commit(&writes))?;
    let done: Vec<bool> = outcomes.iter().map(|outcome| *outcome == CommitOutcome::Committed).collect();
    if done != [true, false, true, true, false, true] {
        return Err(format!("of six writes the 2nd and the 5th are stale; the outcomes were {outcomes:?}"));
    }
    expect(&*store, key("a"), 3, Some(b"a3"), "after three writes in one commit")?;
    expect(&*store, key("b"), 1, Some(b"b1"), "after a commit in which another write was stale")?;
    expect(&*store, key("taken"), 1, Some(b"theirs"), "after a stale write among others")?;
    match fine(store.commit(&[]))?.as_slice() {
        [] => Ok(()),
        other => Err(format!("a commit of no writes came to {other:?}")),
    }
}

fn lock(subject: &Subject<'_>) -> Result<(), String> {
    let (store, other) = (subject.open(), subject.open());
    let key = subject.key("a");
    put(&*store, key, 0, Some(b"before"))?;
    let Some(mut locked) = fine(store.lock())? else { return Ok(()) };
    let write = Write { key, based_on: 1, version: 2, data: Some(b"inside"), transitions: &[], history: 10 };
    if fine(locked.commit(&[write]))? != [CommitOutcome::Committed] {
        return Err("a write on the present version inside a lock was not done".to_owned());
    }
    let inside = fine(locked.load(key))?;
    if (inside.version, inside.data.as_deref()) != (2, Some(&b"inside"[..])) {
        return Err(format!("inside a lock, what was written is not shown: {inside:?}"));
    }
    if !matches!(fine(locked.commit(&[write]))?.as_slice(), [CommitOutcome::Stale(_)]) {
        return Err("inside a lock, a write on an old version was done".to_owned());
    }
    fine(locked.finish())?;
    expect(&*store, key, 2, Some(b"inside"), "after a lock was finished")?;
    expect(&*other, key, 2, Some(b"inside"), "after a lock was finished, looked at by another")
}

fn lock_dropped(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let key = subject.key("a");
    put(&*store, key, 0, Some(b"before"))?;
    if let Some(mut locked) = fine(store.lock())? {
        let write = Write { key, based_on: 1, version: 2, data: Some(b"inside"), transitions: &[], history: 10 };
        fine(locked.commit(&[write]))?;
    }
    expect(&*store, key, 1, Some(b"before"), "after a lock was dropped")?;
    put(&*store, key, 1, Some(b"after"))
}
