//! A commit stays.

use std::thread;
use std::time::Duration;

use super::subject::{Checked, Subject, ensure};
use crate::store::Cursor;

/// A little longer than a lease lasts by default: a record that goes while a lease lives lets a second probe in.
const UNTOUCHED: Duration = Duration::from_millis(5_500);

pub(super) fn untouched(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    store.put_with("kept", 0, 0..2, 100)?;
    store.put("gone", 0, b"x")?;
    store.remove("gone", 1)?;
    thread::sleep(UNTOUCHED);
    store.expect("kept", 1, Some(b"x"), "after some seconds")?;
    store.expect("gone", 2, None, "some seconds after its removal")?;
    store.expect_history("kept", 100, 0..2, "after some seconds")
}

pub(super) fn reopened(subject: &Subject<'_>) -> Checked {
    for version in 0..10 {
        subject.open().put_with("a", version, [version], 100)?;
        let store = subject.open();
        store.expect("a", version + 1, Some(b"x"), "after the store was reopened")?;
        store.expect_history("a", 100, 0..=version, "after the store was reopened")?;
    }
    subject.open().remove("a", 10)?;
    subject.open().expect("a", 11, None, "after a removal, and the store was reopened")
}

pub(super) fn position(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    store.put_with("a", 0, 0..2, 100)?;
    let first = store.transitions(&store.namespace, Cursor::Start, 1)?;
    drop(store);
    let store = subject.open();
    let rest = store.transitions(&store.namespace, first.next, 100)?;
    let counts = (first.transitions.len(), rest.transitions.len());
    ensure(counts == (1, 1) && first.transitions != rest.transitions, || {
        format!("of two transitions, one was read before the store was reopened and {rest:?} after")
    })
}
