//! The lock, where the store has one.

use std::thread;
use std::time::Duration;

use super::concurrency::{COUNTER, THREADS, count, threads};
use super::subject::{Checked, Subject, ensure};
use crate::store::CommitOutcome;

pub(super) fn finished_or_dropped(subject: &Subject<'_>) -> Checked {
    let (store, other) = (subject.open(), subject.open());
    store.put("a", 0, b"before")?;
    let write = store.write("a", 1, Some(b"inside"));
    for finishes in [false, true] {
        let Some(mut locked) = store.lock()? else { return Ok(()) };
        ensure(locked.commit(&[write])? == [CommitOutcome::Committed], || {
            "a write on the present version inside a lock was not done".to_owned()
        })?;
        let inside = locked.load(store.key("a"))?;
        ensure((inside.version, inside.data.as_deref()) == (2, Some(&b"inside"[..])), || {
            format!("inside a lock, a load after a write returned {inside:?}")
        })?;
        ensure(matches!(locked.commit(&[write])?.as_slice(), [CommitOutcome::Stale(_)]), || {
            "inside a lock, a write on an old version was done".to_owned()
        })?;
        if finishes {
            locked.finish()?;
        } else {
            drop(locked);
            store.expect("a", 1, Some(b"before"), "after a lock was dropped")?;
        }
    }
    store.expect("a", 2, Some(b"inside"), "after a lock was finished")?;
    other.expect("a", 2, Some(b"inside"), "after a lock was finished, in another instance")
}

pub(super) fn excludes(subject: &Subject<'_>) -> Checked {
    const EACH: u64 = 25;
    if subject.open().lock()?.is_none() {
        return Ok(());
    }
    threads(|number| {
        let store = subject.open();
        for _ in 0..EACH {
            // One thread counts without the lock, which must keep it out as well.
            if number == 0 {
                count(&store, 10)?;
                continue;
            }
            let Some(mut locked) = store.lock()? else {
                return Err("a store that had a lock before has none now".into());
            };
            let found = locked.load(store.key(COUNTER))?;
            // Time for a writer that the lock does not keep out.
            thread::sleep(Duration::from_millis(1));
            let data = (found.version + 1).to_be_bytes();
            let outcomes = locked.commit(&[store.write(COUNTER, found.version, Some(&data))])?;
            ensure(outcomes == [CommitOutcome::Committed], || "inside a lock, another writer was first".to_owned())?;
            locked.finish()?;
        }
        Ok(())
    })?;
    let (total, version) = (THREADS * EACH, subject.open().snapshot(COUNTER)?.version);
    ensure(version == total, || format!("{total} writes were acknowledged, and the version is {version}"))
}
