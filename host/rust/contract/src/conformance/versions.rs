//! Versions: they never repeat, whatever is removed.

use super::subject::{Checked, OTHERS, Opened, Subject, ensure};
use crate::store::{REMOVED, Write};

pub(super) fn leaps(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    for (based_on, version) in [(0, 7), (7, 8), (8, 1_000_000_007)] {
        store.must(Write { version, ..store.write("a", based_on, Some(b"x")) })?;
        store.expect("a", version, Some(b"x"), "after a write that leaps")?;
    }
    Ok(())
}

pub(super) fn removal(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    store.put("a", 0, b"x")?;
    store.remove("a", 1)?;
    store.expect("a", 2, None, "after a removal")?;
    store.must_be_stale(store.write("a", 1, Some(b"old")))?;
    store.remove("a", 2)?;
    store.expect("a", 3, None, "after a removal of a missing record")?;
    store.put("a", 3, b"new")?;
    store.expect("a", 4, Some(b"new"), "after the record was written again")
}

/// A result that is reported for a missing record counts only while the version of that record stays.
pub(super) fn others(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    store.put("here", 0, b"here")?;
    store.put("gone", 0, b"x")?;
    store.remove("gone", 1)?;
    store.remove("never there", 0)?;
    for when in ["after removals", "after removals and compaction"] {
        store.expect("never written", 0, None, when)?;
        store.expect("here", 1, Some(b"here"), when)?;
        store.expect("gone", 2, None, when)?;
        store.compact(&store.namespace)?;
    }
    Ok(())
}

/// The version of a missing record, which must be as high as any that it had.
fn at_least(store: &Opened, dependency: &str, highest: u64, when: &str) -> Checked<u64> {
    let found = store.snapshot(dependency)?;
    ensure(found.data.is_none() && found.version >= highest, || {
        format!("{when}, {dependency:?}, which had version {highest}, is {found:?}")
    })?;
    Ok(found.version)
}

pub(super) fn compaction(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    store.put("here", 0, b"here")?;
    // More removed records than a store keeps apart. The first has the lowest version.
    let names: Vec<String> = (0..REMOVED + 5).map(|number| format!("gone {number}")).collect();
    let writes: Vec<Write<'_>> =
        (2..).zip(&names).map(|(version, name)| Write { version, ..store.write(name, 0, None) }).collect();
    for writes in writes.chunks(store.max_records().min(50)) {
        store.commit(writes)?;
    }
    store.compact(&store.namespace)?;
    store.expect("here", 1, Some(b"here"), "after compaction")?;
    for write in [&writes[0], &writes[5], &writes[REMOVED + 4]] {
        let version = at_least(&store, write.key.dependency, write.version, "after compaction")?;
        store.put(write.key.dependency, version, b"again")?;
        store.expect(write.key.dependency, version + 1, Some(b"again"), "written again after compaction")?;
    }
    Ok(())
}

pub(super) fn namespace_removal(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    for version in 0..5 {
        store.put("a", version, b"x")?;
    }
    store.put("b", 0, b"x")?;
    store.remove("b", 1)?;
    let others = OTHERS.map(|suffix| store.other(suffix));
    others.iter().try_for_each(|other| other.put("a", 0, b"theirs"))?;
    for _ in 0..2 {
        let before = [("a", store.snapshot("a")?.version), ("b", store.snapshot("b")?.version)];
        store.remove_namespace(&store.namespace)?;
        let listed = store.list(&store.namespace)?;
        ensure(listed.is_empty(), || format!("a removed namespace lists {listed:?}"))?;
        store.must_be_stale(store.write("a", before[0].1, Some(b"back")))?;
        for (dependency, highest) in before {
            // The removal in another process is seen as well.
            let version = at_least(&subject.open(), dependency, highest, "after its namespace was removed")?;
            store.put(dependency, version, b"y")?;
        }
    }
    others.iter().try_for_each(|other| other.expect("a", 1, Some(b"theirs"), "after another namespace was removed"))
}
