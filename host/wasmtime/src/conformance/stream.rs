//! The transitions of a whole namespace.

use super::{Obligation, Subject, fine, put, put_with, transition, transitions};
use crate::store::{Cursor, Key, Store};

pub(super) const ALL: &[Obligation] = &[
    Obligation {
        name: "the stream shows every transition of its namespace once, in the order of the commits",
        check: once,
    },
    Obligation { name: "a position stays good when what was before it is gone", check: position },
];

/// Reads pages until one is empty; which dependency and epoch came.
fn drain(store: &dyn Store, namespace: &str, cursor: &mut Cursor, limit: usize) -> Result<Vec<(String, u64)>, String> {
    let mut all = Vec::new();
    for _ in 0..1_000 {
        let page = fine(store.transitions(namespace, *cursor, limit))?;
        if page.transitions.len() > limit {
            return Err(format!("a page of at most {limit} held {}", page.transitions.len()));
        }
        if !matches!(page.next, Cursor::After(_)) {
            return Err(format!("a page ended at {:?}, which is no position", page.next));
        }
        *cursor = page.next;
        if page.transitions.is_empty() {
            return Ok(all);
        }
        all.extend(page.transitions.into_iter().map(|observed| (observed.dependency, observed.transition.epoch)));
    }
    Err("the stream never comes to an end, with nobody writing".to_owned())
}

fn are(found: &[(String, u64)], wanted: &[(&str, u64)], when: &str) -> Result<(), String> {
    if found.iter().map(|(dependency, epoch)| (dependency.as_str(), *epoch)).eq(wanted.iter().copied()) {
        return Ok(());
    }
    Err(format!("{when}, the stream should show {wanted:?}, and shows {found:?}"))
}

fn once(subject: &Subject<'_>) -> Result<(), String> {
    let (store, other) = (subject.open(), subject.open());
    let space = subject.space();
    let elsewhere = format!("{space} ");
    put_with(&*store, subject.key("a"), 0, Some(b"x"), &[transition(0)], 10)?;
    let mut late = Cursor::End;
    are(&drain(&*store, space, &mut late, 10)?, &[], "from now on, with nothing new")?;
    put_with(&*other, subject.key("b"), 0, Some(b"x"), &transitions(1..3), 10)?;
    put_with(&*store, Key { namespace: &elsewhere, dependency: "c" }, 0, Some(b"x"), &[transition(3)], 10)?;
    put_with(&*store, subject.key("a"), 1, Some(b"x"), &[transition(4)], 10)?;
    put_with(&*store, subject.key("B"), 0, Some(b"x"), &[transition(5)], 10)?;
    let newer = [("b", 1), ("b", 2), ("a", 4), ("B", 5)];
    are(&drain(&*store, space, &mut late, 10)?, &newer, "from the position before four of them")?;
    are(&drain(&*store, space, &mut late, 10)?, &[], "after all were read")?;
    for limit in [1, 2, 3, 100] {
        let all = [("a", 0), ("b", 1), ("b", 2), ("a", 4), ("B", 5)];
        let when = format!("from the start, {limit} at a time");
        are(&drain(&*store, space, &mut Cursor::Start.clone(), limit)?, &all, &when)?;
    }
    Ok(())
}

fn position(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let mut cursor = Cursor::End;
    drain(&*store, subject.space(), &mut cursor, 10)?;
    put_with(&*store, subject.key("a"), 0, Some(b"x"), &transitions(0..3), 10)?;
    let first = drain(&*store, subject.space(), &mut cursor, 10)?;
    are(&first, &[("a", 0), ("a", 1), ("a", 2)], "before the removal")?;
    put(&*store, subject.key("a"), 1, None)?;
    are(&drain(&*store, subject.space(), &mut cursor, 10)?, &[], "after the removal")?;
    put_with(&*store, subject.key("a"), 2, Some(b"x"), &[transition(8)], 10)?;
    are(&drain(&*store, subject.space(), &mut cursor, 10)?, &[("a", 8)], "after the record was made anew")?;
    fine(store.remove_namespace(subject.space()))?;
    let version = fine(store.load(subject.key("a")))?.version;
    put_with(&*store, subject.key("a"), version, Some(b"x"), &[transition(9)], 10)?;
    are(&drain(&*store, subject.space(), &mut cursor, 10)?, &[("a", 9)], "after the namespace was removed")
}
