//! The transitions of a whole namespace.

use std::sync::atomic::{AtomicU64, Ordering};

use super::concurrency::{Countdown, THREADS, threads};
use super::subject::{Checked, Opened, Subject, ensure, number, transition};
use crate::store::{Cursor, FORGOTTEN, Write};

/// Reads pages until one is empty: dependencies and numbers.
fn drain(store: &Opened, cursor: &mut Cursor, limit: usize) -> Checked<Vec<(String, u64)>> {
    let mut all = Vec::new();
    for _ in 0..1_000 {
        let page = store.transitions(&store.namespace, *cursor, limit)?;
        ensure(page.transitions.len() <= limit, || {
            format!("a page of at most {limit} held {}", page.transitions.len())
        })?;
        ensure(matches!(page.next, Cursor::After(_)), || {
            format!("a page ended at {:?}, which is no position", page.next)
        })?;
        *cursor = page.next;
        if page.transitions.is_empty() {
            return Ok(all);
        }
        for observed in page.transitions {
            all.push((observed.dependency, number(&observed.transition)?));
        }
    }
    Err("the stream does not end while no writer writes".into())
}

/// Expects these transitions, and no more, after a position.
fn expect(store: &Opened, cursor: &mut Cursor, limit: usize, wanted: &[(&str, u64)], when: &str) -> Checked {
    let found = drain(store, cursor, limit)?;
    let same = found.iter().map(|(dependency, number)| (dependency.as_str(), *number)).eq(wanted.iter().copied());
    ensure(same, || format!("{when}, the stream should show {wanted:?}, and shows {found:?}"))
}

/// Removes a record, with transitions.
fn forget(store: &Opened, dependency: &str, based_on: u64, numbers: &[u64]) -> Checked {
    let transitions: Vec<String> = numbers.iter().copied().map(transition).collect();
    store.must(Write { transitions: &transitions, ..store.write(dependency, based_on, None) })
}

pub(super) fn once(subject: &Subject<'_>) -> Checked {
    let (store, other) = (subject.open(), subject.open());
    store.put_with("a", 0, [0], 10)?;
    let mut late = Cursor::End;
    expect(&store, &mut late, 10, &[], "from the end, before a new transition")?;
    other.put_with("b", 0, 1..3, 10)?;
    store.other(" ").put_with("c", 0, [3], 10)?;
    store.put_with("a", 1, [4], 10)?;
    store.put_with("B", 0, [5], 10)?;
    let all = [("a", 0), ("b", 1), ("b", 2), ("a", 4), ("B", 5)];
    expect(&store, &mut late, 10, &all[1..], "from the position before four of them")?;
    expect(&store, &mut late, 10, &[], "after all were read")?;
    [1, 2, 3, 100].into_iter().try_for_each(|limit| {
        expect(&store, &mut Cursor::Start.clone(), limit, &all, &format!("from the start, {limit} at a time"))
    })
}

pub(super) fn position(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    let mut cursor = Cursor::End;
    // A new instance each time.
    let mut expect = |wanted: &[(&str, u64)], when| expect(&subject.open(), &mut cursor, 10, wanted, when);
    expect(&[], "before any write")?;
    store.put_with("a", 0, 0..3, 10)?;
    expect(&[("a", 0), ("a", 1), ("a", 2)], "before the removal")?;
    store.remove("a", 1)?;
    expect(&[], "after the removal")?;
    store.put_with("a", 2, [8], 10)?;
    expect(&[("a", 8)], "after the record was written again")?;
    store.remove_namespace(&store.namespace)?;
    store.put_with("a", store.snapshot("a")?.version, [9], 10)?;
    expect(&[("a", 9)], "after the namespace was removed")
}

pub(super) fn forgotten(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    let mut cursor = Cursor::End;
    expect(&store, &mut cursor, 10, &[], "before any write")?;
    store.put_with("a", 0, [0, 1], 10)?;
    store.put_with("b", 0, [2], 10)?;
    forget(&store, "a", 1, &[3, 4])?;
    let read_on = [("a", 3), ("a", 4)];
    expect(&store, &mut cursor, 10, &[&[("b", 2)], &read_on[..]].concat(), "after a removal with two transitions")?;
    store.expect_history("a", 10, [], "after a removal with two transitions")?;
    store.put_with("a", 2, [5], 1)?;
    store.put_with("a", 3, [6], 1)?;
    store.expect_history("a", 10, [6], "after the record was written again")?;
    forget(&store, "never written", 0, &[7])?;
    store.compact(&store.namespace)?;
    expect(&store, &mut cursor, 10, &[("a", 6), ("never written", 7)], "after further writes and compaction")?;
    let all = [("b", 2), ("a", 3), ("a", 4), ("a", 6), ("never written", 7)];
    expect(&store, &mut Cursor::Start.clone(), 2, &all, "from the start")?;
    store.remove_namespace(&store.namespace)?;
    expect(&store, &mut Cursor::Start.clone(), 10, &[], "from the start, after the namespace was removed")
}

pub(super) fn forgotten_bound(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    let most = FORGOTTEN as u64;
    store.put_with("kept", 0, [1], 10)?;
    forget(&store.other(" "), "other", 0, &[2])?;
    let transitions: Vec<[String; 1]> = (0..most + 5).map(|number| [transition(number)]).collect();
    let writes: Vec<Write<'_>> = (0..)
        .zip(&transitions)
        .map(|(version, transition)| Write { transitions: transition, ..store.write("a", version, None) })
        .collect();
    for writes in writes.chunks(25) {
        store.commit(writes)?;
    }
    let wanted: Vec<_> = [("kept", 1)].into_iter().chain((5..most + 5).map(|number| ("a", number))).collect();
    expect(&store, &mut Cursor::Start.clone(), 10_000, &wanted, "after five removals more than are kept")?;
    expect(&store.other(" "), &mut Cursor::Start.clone(), 10, &[("other", 2)], "after removals in another namespace")
}

/// One thread reads while the others write, each a record of its own.
pub(super) fn while_written(subject: &Subject<'_>) -> Checked {
    const EACH: u64 = 60;
    let writers = THREADS - 1;
    let name = |writer: u64| format!("of {writer}");
    let writing = AtomicU64::new(writers);
    let seen = threads(|number| {
        let store = subject.open();
        if number == writers {
            return read_while(&store, || writing.load(Ordering::SeqCst) > 0);
        }
        let _countdown = Countdown(&writing);
        (0..EACH).try_for_each(|n| store.put_with(&name(number), n, [n], 1_000))?;
        Ok(Vec::new())
    })?;
    let seen = seen.concat();
    (0..writers).map(name).try_for_each(|name| {
        let of_writer: Vec<u64> = seen.iter().filter(|(of, _)| *of == name).map(|(_, number)| *number).collect();
        ensure(of_writer.iter().copied().eq(0..EACH), || {
            format!("a record got the transitions 0 to {} one by one, and a reader saw {of_writer:?}", EACH - 1)
        })
    })
}

/// All that a reader sees, page by page, until no writer writes and the stream ends.
fn read_while(store: &Opened, is_written: impl Fn() -> bool) -> Checked<Vec<(String, u64)>> {
    let (mut cursor, mut seen) = (Cursor::Start, Vec::new());
    loop {
        let last = !is_written();
        seen.extend(drain(store, &mut cursor, 7)?);
        if last {
            return Ok(seen);
        }
    }
}
