//! Names: two pairs that differ in a byte are two records.

use super::subject::{Checked, Opened, Subject, ensure};
use crate::store::StoreError;

/// Names that a careless store takes for one another: by case, space, separator, pattern or encoding.
const NAMES: &str = "a|A|a | a|a\0|a\0b|\0|a:|:a|a/b|a\\b|a%|a_|a*|a?|a'|a\"|a;--|\u{e4}|a\u{308}|\u{c4}|ss|\u{df}|\u{130}|\
                     i|I|\u{131}|\u{fffd}|\u{1f600}|1|01|1.0|null|b:c|B:C|b:c ";

fn names<'a>() -> impl Iterator<Item = &'a str> {
    NAMES.split('|').chain(["a|b"])
}

/// Expects that no write and no removal of one of the records changes another.
fn stay_apart(records: &[(&Opened, &str)]) -> Checked {
    for (number, (store, dependency)) in (0..).zip(records) {
        store.expect(dependency, 0, None, "before it was written, after others were")?;
        store.put_with(dependency, 0, [number], 10)?;
    }
    for (number, (store, dependency)) in (0..).zip(records) {
        store.expect_history(dependency, 10, [number], "after others were written")?;
        store.remove(dependency, 1)?;
    }
    Ok(())
}

pub(super) fn joined(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    let other = store.other(":b");
    stay_apart(&[(&store, "b:c"), (&other, "c"), (&store, ":b:c"), (&store, "b"), (&other, ":c")])
}

pub(super) fn byte_for_byte(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    let (long, longer) = ("x".repeat(255), "x".repeat(256));
    let names: Vec<_> = names().chain([long.as_str(), longer.as_str()]).map(|name| (&store, name)).collect();
    stay_apart(&names)
}

pub(super) fn list(subject: &Subject<'_>) -> Checked {
    let store = subject.open();
    for name in names() {
        store.put(name, 0, b"x")?;
    }
    store.other(" ").put("elsewhere", 0, b"x")?;
    store.put("gone", 0, b"x")?;
    store.remove("gone", 1)?;
    let mut wanted: Vec<&str> = names().collect();
    wanted.sort_unstable();
    let found = store.list(&store.namespace)?;
    ensure(found == wanted, || format!("the list should be {wanted:?}, and is {found:?}"))?;
    match store.namespaces() {
        // It lists none.
        Err(StoreError::Other { .. }) => Ok(()),
        found => {
            let (found, other) = (found?, store.other(" ").namespace);
            let is_complete = found.contains(&store.namespace) && found.contains(&other) && found.is_sorted();
            ensure(is_complete, || format!("the namespaces should hold {:?} and {other:?}: {found:?}", store.namespace))
        }
    }
}
