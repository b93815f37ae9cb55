//! The transitions of a whole namespace.

use std::sync::atomic::{AtomicU64, Ordering};

use super::concurrency::{THREADS, threads};
use super::{Obligation, Subject, fine, put, put_with, transition, transitions};
use crate::store::{Cursor, Key, Store};

pub(super) const ALL: &[Obligation] = &[
    Obligation {
        name: "the stream shows every transition of its namespace once, in the order of the commits",
        check: once,
    },
    Obligation { name: "a position stays good when what was before it is gone", check: position },
    Obligation { name: "no reader of the stream passes a transition by while others write", check: while_written },
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

/// One thread reads while the others write, each a record of its own.
fn while_written(subject: &Subject<'_>) -> Result<(), String> {
    const EACH: u64 = 60;
    let writers = THREADS - 1;
    let name = |writer: u64| format!("of {writer}");
    let writing = AtomicU64::new(writers);
    let seen = threads(|number| {
        let store = subject.open();
        if number == writers {
            return read_while(&*store, subject.space(), || writing.load(Ordering::SeqCst) > 0);
        }
        let _one_less = OneLess(&writing);
        let name = name(number);
        for epoch in 0..EACH {
            put_with(&*store, subject.key(&name), epoch, Some(b"x"), &[transition(epoch)], 1_000)?;
        }
        Ok(Vec::new())
    })?;
    let seen = seen.concat();
    for writer in 0..writers {
        let name = name(writer);
        let of_writer: Vec<u64> = seen.iter().filter(|(of, _)| *of == name).map(|(_, epoch)| *epoch).collect();
        if !of_writer.iter().copied().eq(0..EACH) {
            return Err(format!(
                "a record was given the transitions 0 to {} one by one, and a reader at the same time saw {of_writer:?}",
                EACH - 1
            ));
        }
    }
    Ok(())
}

/// All that a reader sees, page by page, until nobody writes any more and it has come to the end.
fn read_while(store: &dyn Store, space: &str, is_written: impl Fn() -> bool) -> Result<Vec<(String, u64)>, String> {
    let (mut cursor, mut seen) = (Cursor::Start, Vec::new());
    loop {
        let last = !is_written();
        let page = drain(store, space, &mut cursor, 7)?;
        seen.extend(page);
        if last {
            return Ok(seen);
        }
    }
}

/// Counts down when it is dropped, also where its thread fails.
struct OneLess<'a>(&'a AtomicU64);

impl Drop for OneLess<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
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
