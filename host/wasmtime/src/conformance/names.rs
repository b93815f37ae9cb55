//! Names: any two pairs that differ in a byte are two records.

use super::{Obligation, Subject, expect, fine, put};
use crate::store::Key;

pub(super) const ALL: &[Obligation] = &[
    Obligation { name: "namespace and dependency are never joined", check: joined },
    Obligation { name: "names are compared byte for byte", check: byte_for_byte },
    Obligation { name: "a list holds the records of its namespace, sorted by their bytes", check: list },
    Obligation { name: "removing a namespace leaves the others alone", check: other_namespaces },
];

/// Names that a careless store takes for one another: by case, by space, by a separator, by a pattern, by an encoding.
const NAMES: [&str; 34] = [
    "a",
    "A",
    "a ",
    " a",
    "a\0",
    "a\0b",
    "\0",
    "a:",
    ":a",
    "a/b",
    "a\\b",
    "a|b",
    "a%",
    "a_",
    "a*",
    "a?",
    "a'",
    "a\"",
    "a;--",
    "\u{e4}",
    "a\u{308}",
    "\u{c4}",
    "ss",
    "\u{df}",
    "\u{130}",
    "i",
    "I",
    "\u{131}",
    "\u{fffd}",
    "\u{1f600}",
    "1",
    "01",
    "1.0",
    "null",
];

fn joined(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let space = subject.space();
    let with_colon = format!("{space}:b");
    let pairs =
        [(space, "b:c"), (with_colon.as_str(), "c"), (space, ":b:c"), (space, "b"), (with_colon.as_str(), ":c")];
    for (number, (namespace, dependency)) in pairs.iter().enumerate() {
        let key = Key { namespace, dependency };
        expect(&*store, key, 0, None, "before it was written, after others were")?;
        put(&*store, key, 0, Some(&[number as u8]))?;
    }
    for (number, (namespace, dependency)) in pairs.iter().enumerate() {
        expect(&*store, Key { namespace, dependency }, 1, Some(&[number as u8]), "after others were written")?;
    }
    Ok(())
}

fn byte_for_byte(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let long = "x".repeat(256);
    let longer = "x".repeat(255);
    let names: Vec<&str> = NAMES.iter().copied().chain([long.as_str(), longer.as_str()]).collect();
    for (number, name) in names.iter().enumerate() {
        expect(&*store, subject.key(name), 0, None, "before it was written, after others were")?;
        put(&*store, subject.key(name), 0, Some(&[number as u8]))?;
    }
    for (number, name) in names.iter().enumerate() {
        expect(&*store, subject.key(name), 1, Some(&[number as u8]), "after others were written")?;
    }
    Ok(())
}

fn list(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let space = subject.space();
    let other = format!("{space} ");
    for name in NAMES {
        put(&*store, subject.key(name), 0, Some(b"x"))?;
    }
    put(&*store, Key { namespace: &other, dependency: "elsewhere" }, 0, Some(b"x"))?;
    put(&*store, subject.key("gone"), 0, Some(b"x"))?;
    put(&*store, subject.key("gone"), 1, None)?;
    let mut wanted: Vec<String> = NAMES.map(str::to_owned).to_vec();
    wanted.sort_unstable();
    let found = fine(store.list(space))?;
    if found == wanted { Ok(()) } else { Err(format!("the list should be {wanted:?}, and is {found:?}")) }
}

fn other_namespaces(subject: &Subject<'_>) -> Result<(), String> {
    let store = subject.open();
    let space = subject.space();
    let others = [format!("{space}2"), format!("{space} "), format!("{space}:b")];
    put(&*store, subject.key("a"), 0, Some(b"x"))?;
    for other in &others {
        put(&*store, Key { namespace: other, dependency: "a" }, 0, Some(b"x"))?;
    }
    fine(store.remove_namespace(space))?;
    for other in &others {
        expect(
            &*store,
            Key { namespace: other, dependency: "a" },
            1,
            Some(b"x"),
            "after another namespace was removed",
        )?;
    }
    Ok(())
}
