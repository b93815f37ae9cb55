//! The keys: no two pairs of namespace and dependency share one.
//!
//! `PREFIX//record/NAMESPACE/DEPENDENCY`, with namespace and dependency escaped so that neither holds a slash. A prefix
//! holds no empty part, so it ends at the first `//`, and no range of one prefix reaches into another.

use halfopen_contract::store::Key;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use crate::client::messages::Span;

/// The escaped characters: the separator, the sign of an escape, and invisible ones.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'/').add(b'%').add(b' ');

/// The part of a key in place of a dependency, for the transitions of removals. No escaped name is like it.
const REMOVALS: &str = "%";

/// The digits of a `u64`.
const DIGITS: usize = 20;

/// The keys of a prefix.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    prefix: String,
}

impl Keys {
    /// The keys of a prefix without empty parts.
    pub fn new(prefix: &str) -> Keys {
        Keys { prefix: prefix.to_owned() }
    }

    pub fn record(&self, key: Key<'_>) -> Vec<u8> {
        self.within("record", key.namespace, &escaped(key.dependency))
    }

    /// All records of a namespace.
    pub fn records(&self, namespace: &str) -> Span {
        span(self.within("record", namespace, ""))
    }

    /// All records.
    pub fn all_records(&self) -> Span {
        span(format!("{}//record/", self.prefix).into_bytes())
    }

    /// The floor of a namespace.
    pub fn floor(&self, namespace: &str) -> Vec<u8> {
        format!("{}//removed/{}", self.prefix, escaped(namespace)).into_bytes()
    }

    /// Transitions of a record before the one with the number `end`.
    pub fn chunk(&self, key: Key<'_>, end: u64) -> Vec<u8> {
        self.within("history", key.namespace, &format!("{}/{end:0DIGITS$}", escaped(key.dependency)))
    }

    /// All transitions of a record.
    pub fn chunks(&self, key: Key<'_>) -> Span {
        span(self.within("history", key.namespace, &format!("{}/", escaped(key.dependency))))
    }

    /// A transition of a removal, by the version that the removal gave and its index.
    pub fn removal(&self, key: Key<'_>, version: u64, index: usize) -> Vec<u8> {
        let dependency = escaped(key.dependency);
        self.within("history", key.namespace, &format!("{REMOVALS}/{dependency}/{version:0DIGITS$}-{index}"))
    }

    /// All transitions of removals of a namespace.
    pub fn removals(&self, namespace: &str) -> Span {
        span(self.within("history", namespace, &format!("{REMOVALS}/")))
    }

    /// All transitions of a namespace.
    pub fn history(&self, namespace: &str) -> Span {
        span(self.within("history", namespace, ""))
    }

    fn within(&self, kind: &str, namespace: &str, rest: &str) -> Vec<u8> {
        format!("{}//{kind}/{}/{rest}", self.prefix, escaped(namespace)).into_bytes()
    }
}

fn escaped(name: &str) -> String {
    utf8_percent_encode(name, ESCAPED).to_string()
}

/// All keys that begin with `start`, which ends in a slash.
fn span(start: Vec<u8>) -> Span {
    let mut end = start.clone();
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    (start, end)
}

#[cfg(test)]
mod tests;
