//! History: order, bound, removal.

use super::{Obligation, Subject, fine, put, put_with, transition, transitions};
use crate::store::{CommitOutcome, Key, Store, Write};
use crate::wire::Transition;

pub(super) const ALL: &[Obligation] = &[
    Obligation { name: "history is in order and comes back as it was written", check: order },
    Obligation { name: "history keeps the newest so many", check: bound },
    Obligation { name: "a stale write adds nothing to the history", check: stale },
    Obligation { name: "a removal takes the history with it", check: removal },
    Obligation { name: "each record has a history of its own", check: apart },
];

pub(super) fn history_is(
    store: &dyn Store,
    key: Key<'_>,
    limit: usize,
    wanted: &[Transition],
    when: &str,
) -> Result<(), String> {
    let found = fine(store.history(key, limit))?;
    if found == wanted {
        return Ok(());
    }
    let epochs = |list: &[Transition]| list.iter().map(|transition| transition.epoch).collect::<Vec<_>>();
    if epochs(&found) != epochs(wanted) {
        return Err(format!(
            "{when}, the history should hold epochs {:?}, and holds {:?}",
            epochs(wanted),
            epochs(&found)
        ));
    }
    let differ = found.iter().zip(wanted).find(|(found, wanted)| found != wanted);
    Err(format!("{when}, a transition has changed (found, wanted): {differ:?}"))
}

fn order(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let key = subject.key("a");
    history_is(&*store, key, 100, &[], "before anything was written")?;
    // Instants may step back and epochs be huge: the order is that of the commits.
    let mut all = transitions(0..6);
    all[3].at = 5;
    all[4].epoch = u64::MAX;
    all[5].at = u64::MAX;
    put_with(&*store, key, 0, Some(b"x"), &all[..3], 100)?;
    put_with(&*store, key, 1, Some(b"x"), &[], 100)?;
    put_with(&*store, key, 2, Some(b"x"), &all[3..], 100)?;
    history_is(&*store, key, 100, &all, "after six transitions in two commits")?;
    history_is(&*store, key, 2, &all[4..], "asked for the newest two")?;
    history_is(&*store, key, 0, &[], "asked for none")?;
    history_is(&*store, key, usize::MAX, &all, "asked for all there are")
}

fn bound(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let key = subject.key("a");
    for n in 0..10 {
        put_with(&*store, key, n, Some(b"x"), &[transition(n)], 4)?;
    }
    history_is(&*store, key, 100, &transitions(6..10), "after ten transitions with room for four")?;
    put_with(&*store, key, 10, Some(b"x"), &transitions(10..16), 4)?;
    history_is(&*store, key, 100, &transitions(12..16), "after six at once with room for four")?;
    put_with(&*store, key, 11, Some(b"x"), &[transition(16)], 2)?;
    history_is(&*store, key, 100, &transitions(15..17), "after the room was lowered to two")?;
    put_with(&*store, key, 12, Some(b"x"), &[transition(17)], usize::MAX)?;
    history_is(&*store, key, 100, &transitions(15..18), "after the room was made endless")?;
    put_with(&*store, key, 13, Some(b"x"), &[transition(18)], 0)?;
    history_is(&*store, key, 100, &[], "after a transition with room for none")
}

fn stale(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let key = subject.key("a");
    put_with(&*store, key, 0, Some(b"x"), &[transition(1)], 10)?;
    let added = [transition(2)];
    let write = Write { key, based_on: 0, version: 1, data: Some(b"y"), transitions: &added, history: 10 };
    if fine(store.commit(&[write]))? == [CommitOutcome::Committed] {
        return Err("a write on an old version was done".to_owned());
    }
    history_is(&*store, key, 100, &[transition(1)], "after a stale write")
}

fn removal(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let key = subject.key("a");
    put_with(&*store, key, 0, Some(b"x"), &transitions(0..3), 10)?;
    put(&*store, key, 1, None)?;
    history_is(&*store, key, 100, &[], "after the record was removed")?;
    put_with(&*store, key, 2, Some(b"y"), &[transition(7)], 10)?;
    history_is(&*store, key, 100, &[transition(7)], "after the record was made anew")?;
    fine(store.remove_namespace(subject.space()))?;
    history_is(&*store, key, 100, &[], "after the namespace was removed")?;
    // Removed and made anew in one commit.
    let version = fine(store.load(key))?.version;
    put_with(&*store, key, version, Some(b"z"), &transitions(0..3), 10)?;
    let added = [transition(9)];
    let writes = [
        Write { key, based_on: version + 1, version: version + 2, data: None, transitions: &[], history: 10 },
        Write { key, based_on: version + 2, version: version + 3, data: Some(b"w"), transitions: &added, history: 10 },
    ];
    fine(store.commit(&writes))?;
    history_is(&*store, key, 100, &[transition(9)], "after it was removed and made anew in one commit")
}

fn apart(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let other = format!("{}:b", subject.space());
    let keys =
        [subject.key("b:c"), Key { namespace: &other, dependency: "c" }, subject.key("B:C"), subject.key("b:c ")];
    for (n, key) in (0..).zip(keys) {
        put_with(&*store, key, 0, Some(b"x"), &[transition(n)], 1)?;
    }
    for (n, key) in (0..).zip(keys) {
        history_is(&*store, key, 100, &[transition(n)], "after others were written")?;
    }
    put(&*store, keys[0], 1, None)?;
    history_is(&*store, keys[1], 100, &[transition(1)], "after another record was removed")
}
