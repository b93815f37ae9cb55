//! Many at once, with real threads.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use super::history::history_is;
use super::{Obligation, Subject, fine, load, transition};
use crate::store::{CommitOutcome, Store, Write};

pub(super) const ALL: &[Obligation] = &[
    Obligation { name: "of concurrent writes on one version exactly one is done", check: one_wins },
    Obligation { name: "no acknowledged write is lost", check: nothing_lost },
    Obligation { name: "a commit is seen whole or not at all", check: whole },
    Obligation { name: "a lock keeps other writers out", check: lock },
];

pub(super) const THREADS: u64 = 4;

/// Runs so many threads that all begin together.
pub(super) fn threads<T: Send>(run: impl Fn(u64) -> Result<T, String> + Sync) -> Result<Vec<T>, String> {
    let start = Barrier::new(THREADS as usize);
    std::thread::scope(|scope| {
        let run = |number| {
            start.wait();
            run(number)
        };
        let handles: Vec<_> = (0..THREADS).map(|number| scope.spawn(move || run(number))).collect();
        let panicked = |_| Err("the store panicked in a thread".to_owned());
        handles.into_iter().map(|handle| handle.join().unwrap_or_else(panicked)).collect()
    })
}

fn one_wins(subject: &Subject<'_>) -> Result<(), String> {
    for version in 0..20 {
        let done = threads(|number| {
            let store = subject.open();
            let data = [number as u8];
            let write = Write {
                key: subject.key("a"),
                based_on: version,
                version: version + 1,
                data: Some(&data),
                transitions: &[],
                history: 10,
            };
            Ok((number, fine(store.commit(&[write]))? == [CommitOutcome::Committed]))
        })?;
        let winners: Vec<u64> = done.iter().filter(|(_, done)| *done).map(|(number, _)| *number).collect();
        let [winner] = winners.as_slice() else {
            return Err(format!("{} of {THREADS} writes on version {version} were done", winners.len()));
        };
        let found = load(&*subject.open(), subject.key("a"))?;
        if found.data.as_deref() != Some(&[*winner as u8]) {
            return Err(format!(
                "writer {winner} was told that its write is done, and the record holds {:?}",
                found.data
            ));
        }
    }
    Ok(())
}

/// Adds one to a counter in the record until that is done.
fn count(store: &dyn Store, subject: &Subject<'_>, history: usize) -> Result<(), String> {
    let key = subject.key("counter");
    let mut found = load(store, key)?;
    for _ in 0..10_000 {
        let counted = u64::from_be_bytes(
            found
                .data
                .as_deref()
                .map_or(Ok([0; 8]), <[u8; 8]>::try_from)
                .map_err(|_| format!("a record of 8 bytes came back as {:?}", found.data))?,
        ) + 1;
        let (data, added) = (counted.to_be_bytes(), [transition(counted)]);
        let write = Write {
            key,
            based_on: found.version,
            version: found.version + 1,
            data: Some(&data),
            transitions: &added,
            history,
        };
        match fine(store.commit(&[write]))?.pop() {
            Some(CommitOutcome::Committed) => return Ok(()),
            Some(CommitOutcome::Stale(newer)) if newer.version != found.version => found = newer,
            Some(CommitOutcome::Stale(same)) => {
                return Err(format!("a write was stale, and the record still has its version {}", same.version));
            }
            None => return Err("a commit of one write has no outcome".to_owned()),
        }
    }
    Err("a write lost its race 10,000 times".to_owned())
}

fn nothing_lost(subject: &Subject<'_>) -> Result<(), String> {
    const EACH: u64 = 50;
    threads(|_| {
        let store = subject.open();
        (0..EACH).try_for_each(|_| count(&*store, subject, 1_000))
    })?;
    let store = subject.open();
    let (total, found) = (THREADS * EACH, load(&*store, subject.key("counter"))?);
    if found.data.as_deref() != Some(&total.to_be_bytes()) || found.version != total {
        return Err(format!(
            "{total} writes were acknowledged, and the record has version {} and data {:?}",
            found.version, found.data
        ));
    }
    let wanted: Vec<_> = (1..=total).map(transition).collect();
    history_is(&*store, subject.key("counter"), usize::MAX, &wanted, "after concurrent writes")
}

fn whole(subject: &Subject<'_>) -> Result<(), String> {
    let writing = AtomicU64::new(THREADS / 2);
    threads(|number| {
        let writer = (number % 2 == 0).then(|| Done(&writing));
        let store = subject.open();
        if writer.is_some() {
            return (0..50).try_for_each(|_| count(&*store, subject, 1));
        }
        while writing.load(Ordering::SeqCst) > 0 {
            look(&*store, subject)?;
        }
        // Once more with everything written, whatever the threads were let to see of each other.
        look(&*store, subject)
    })?;
    Ok(())
}

/// Counts a writer out when it ends, also where the store panics.
struct Done<'a>(&'a AtomicU64);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The version of the counter, its data and its history are one number. Looked at in this order each may only be later than
/// the one before.
fn look(store: &dyn Store, subject: &Subject<'_>) -> Result<(), String> {
    let key = subject.key("counter");
    let before = load(store, key)?;
    let history = fine(store.history(key, 1))?;
    let epoch = history.first().map_or(0, |transition| transition.epoch);
    let data = before.data.as_deref().and_then(|data| data.try_into().ok()).map_or(0, u64::from_be_bytes);
    if data == before.version && epoch >= data {
        return Ok(());
    }
    Err(format!(
        "a look in the middle of commits saw version {}, data {data}, and then history up to {epoch}",
        before.version
    ))
}

fn lock(subject: &Subject<'_>) -> Result<(), String> {
    if fine(subject.open().lock())?.is_none() {
        return Ok(());
    }
    const EACH: u64 = 25;
    threads(|number| {
        let store = subject.open();
        for _ in 0..EACH {
            // Some count without the lock, so that it has to keep them out as well.
            if number == 0 {
                count(&*store, subject, 10)?;
                continue;
            }
            let Some(mut locked) = fine(store.lock())? else {
                return Err("a store that lent its lock before has none now".to_owned());
            };
            let key = subject.key("counter");
            let found = fine(locked.load(key))?;
            // Time for whoever the lock does not keep out.
            std::thread::sleep(std::time::Duration::from_millis(1));
            let data = (found.version + 1).to_be_bytes();
            let write = Write {
                key,
                based_on: found.version,
                version: found.version + 1,
                data: Some(&data),
                transitions: &[],
                history: 10,
            };
            if fine(locked.commit(&[write]))? != [CommitOutcome::Committed] {
                return Err("inside a lock, another writer was first".to_owned());
            }
            fine(locked.finish())?;
        }
        Ok(())
    })?;
    let found = load(&*subject.open(), subject.key("counter"))?;
    if found.version == THREADS * EACH {
        return Ok(());
    }
    Err(format!("{} writes were acknowledged, and the version is {}", THREADS * EACH, found.version))
}
