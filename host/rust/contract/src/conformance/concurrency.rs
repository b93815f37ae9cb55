//! Several writers at once, with real threads.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::subject::{Checked, Opened, Subject, ensure, number, transition};
use crate::store::{CommitOutcome, Write};

pub(super) const THREADS: u64 = 4;

/// The record in which [`count`] counts.
pub(super) const COUNTER: &str = "counter";

/// Runs [`THREADS`] threads that all begin together.
pub(super) fn threads<T: Send>(run: impl Fn(u64) -> Checked<T> + Sync) -> Checked<Vec<T>> {
    let start = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        let run = |number| {
            start.wait();
            run(number)
        };
        let handles: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || run(number))).collect();
        let panicked = |_| Err("the store panicked in a thread".into());
        handles.into_iter().map(|handle| handle.join().unwrap_or_else(panicked)).collect()
    })
}

/// Counts a writer down when dropped, also where its thread panics.
pub(super) struct Countdown<'a>(pub &'a AtomicU64);

impl Drop for Countdown<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(super) fn one_wins(subject: &Subject<'_>) -> Checked {
    for version in 0..20 {
        let done = threads(|number| {
            let store = subject.open();
            Ok(store.commit_one(store.write("a", version, Some(&[number as u8])))? == CommitOutcome::Committed)
        })?;
        let winners: Vec<u8> = (0..).zip(done).filter(|(_, done)| *done).map(|(number, _)| number).collect();
        ensure(winners.len() == 1, || format!("{} of {THREADS} writes on version {version} were done", winners.len()))?;
        subject.open().expect("a", version + 1, Some(&winners), "after the only write that was done")?;
    }
    Ok(())
}

/// Adds one to a counter in the record, retrying until the write is done.
pub(super) fn count(store: &Opened, history: usize) -> Checked {
    let mut found = store.snapshot(COUNTER)?;
    for _ in 0..10_000 {
        let counted = counter(found.data.as_deref())? + 1;
        let (data, added) = (counted.to_be_bytes(), [transition(counted)]);
        let write = Write { transitions: &added, history, ..store.write(COUNTER, found.version, Some(&data)) };
        match store.commit_one(write)? {
            CommitOutcome::Committed => return Ok(()),
            CommitOutcome::Stale(newer) => {
                ensure(newer.version != found.version, || {
                    format!("a write was stale, and the record still has its version {}", newer.version)
                })?;
                found = newer;
            }
        }
    }
    Err("a write lost its race 10,000 times".into())
}

fn counter(data: Option<&[u8]>) -> Checked<u64> {
    let Some(data) = data else { return Ok(0) };
    let bytes = data.try_into().map_err(|_| format!("a record of 8 bytes came back as {data:?}"))?;
    Ok(u64::from_be_bytes(bytes))
}

pub(super) fn nothing_lost(subject: &Subject<'_>) -> Checked {
    const EACH: u64 = 50;
    threads(|_| {
        let store = subject.open();
        (0..EACH).try_for_each(|_| count(&store, 1_000))
    })?;
    let (store, total) = (subject.open(), THREADS * EACH);
    store.expect(COUNTER, total, Some(&total.to_be_bytes()), "after concurrent writes, all acknowledged")?;
    store.expect_history(COUNTER, usize::MAX, 1..=total, "after concurrent writes, all acknowledged")
}

pub(super) fn whole(subject: &Subject<'_>) -> Checked {
    let writing = AtomicU64::new(THREADS / 2);
    threads(|number| {
        let writer = (number % 2 == 0).then(|| Countdown(&writing));
        let store = subject.open();
        if writer.is_some() {
            return (0..50).try_for_each(|_| count(&store, 1));
        }
        while writing.load(Ordering::SeqCst) > 0 {
            agrees(&store)?;
        }
        // Once more after the last write, however the threads were scheduled.
        agrees(&store)
    })?;
    Ok(())
}

/// The version of the counter, its data and its history are one number. Read in this order, each may only be later than
/// the one before.
fn agrees(store: &Opened) -> Checked {
    let found = store.snapshot(COUNTER)?;
    let history = store.history(store.key(COUNTER), 1)?;
    let newest = history.first().map_or(Ok(0), |text| number(text))?;
    let data = counter(found.data.as_deref())?;
    ensure(data == found.version && newest >= data, || {
        format!("in the middle of commits, version {}, data {data}, and then history up to {newest}", found.version)
    })
}
