//! What was committed stays.

use std::time::Duration;

use super::history::history_is;
use super::{Obligation, Subject, expect, fine, load, put, put_with, transitions};
use crate::store::Cursor;

pub(super) const ALL: &[Obligation] = &[
    Obligation { name: "what was committed is there when the store is opened again", check: reopened },
    Obligation { name: "versions go on when the store is opened again after a removal", check: removed },
    Obligation { name: "a position in the stream stays good when the store is opened again", check: cursor },
];

/// It waits, so it is checked beside the others.
pub(super) const STAYS: Obligation = Obligation { name: "a record that nobody touches stays", check: stays };

/// A little longer than a lease lasts by default: a record that goes while a lease lives lets a second probe in.
const UNTOUCHED: Duration = Duration::from_millis(5_500);

fn stays(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let (kept, gone) = (subject.key("kept"), subject.key("gone"));
    let history = transitions(0..2);
    put_with(&*store, kept, 0, Some(b"x"), &history, 100)?;
    put(&*store, gone, 0, Some(b"x"))?;
    put(&*store, gone, 1, None)?;
    std::thread::sleep(UNTOUCHED);
    expect(&*store, kept, 1, Some(b"x"), "after some seconds")?;
    expect(&*store, gone, 2, None, "some seconds after its removal")?;
    history_is(&*store, kept, 100, &history, "after some seconds")
}

fn reopened(subject: &Subject<'_>) -> Result<(), String> {
    let key = subject.key("a");
    for version in 0..10u64 {
        let store = subject.open();
        let added = transitions(version..version + 1);
        put_with(&*store, key, version, Some(&version.to_be_bytes()), &added, 100)?;
        drop(store);
        let store = subject.open();
        expect(&*store, key, version + 1, Some(&version.to_be_bytes()), "after the store was opened again")?;
        history_is(&*store, key, 100, &transitions(0..version + 1), "after the store was opened again")?;
    }
    Ok(())
}

fn removed(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    put(&*store, subject.key("a"), 0, Some(b"x"))?;
    put(&*store, subject.key("a"), 1, None)?;
    drop(store);
    expect(&*subject.open(), subject.key("a"), 2, None, "after the store was opened again")?;
    fine(subject.open().remove_namespace(subject.space()))?;
    let found = load(&*subject.open(), subject.key("a"))?;
    if found.version < 2 {
        return Err(format!("a record at version 2 has version {} after its namespace was removed", found.version));
    }
    Ok(())
}

fn cursor(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    put_with(&*store, subject.key("a"), 0, Some(b"x"), &transitions(0..2), 100)?;
    let next = fine(store.transitions(subject.space(), Cursor::Start, 1))?.next;
    drop(store);
    let page = fine(subject.open().transitions(subject.space(), next, 100))?;
    let epochs: Vec<u64> = page.transitions.iter().map(|observed| observed.transition.epoch).collect();
    if epochs == [1] {
        return Ok(());
    }
    Err(format!("of two transitions one was read; after the store was opened again came {epochs:?}"))
}
