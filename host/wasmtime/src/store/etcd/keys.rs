//! Where things are kept: keys in which no two pairs of namespace and dependency meet.
//!
//! `PREFIX//record/NAMESPACE/DEPENDENCY`, with namespace and dependency escaped so that neither holds a slash. A prefix
//! holds no empty part, so the first `//` is where it ends, and no range of one prefix reaches into another.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode, utf8_percent_encode};

use super::super::Key;

/// What is escaped: the separator, the sign of an escape, and what a terminal does not show.
const ESCAPED: &AsciiSet = &CONTROLS.add(b'/').add(b'%').add(b' ');

/// Digits of a `u64`.
const DIGITS: usize = 20;

/// A range of keys: from the first to before the second.
pub(super) type Span = (Vec<u8>, Vec<u8>);

/// The keys of a prefix.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    prefix: String,
}

impl Keys {
    /// The prefix was checked: see [`check_prefix`].
    pub fn new(prefix: &str) -> Keys {
        Keys { prefix: prefix.to_owned() }
    }

    /// Of a record.
    pub fn record(&self, key: Key<'_>) -> Vec<u8> {
        self.within("record", key.namespace, &escaped(key.dependency))
    }

    /// Of all records of a namespace.
    pub fn records(&self, namespace: &str) -> Span {
        span(self.within("record", namespace, ""))
    }

    /// Of what a namespace keeps of its removed records.
    pub fn floor(&self, namespace: &str) -> Vec<u8> {
        format!("{}//removed/{}", self.prefix, escaped(namespace)).into_bytes()
    }

    /// Of the transitions of a record from the one with this number on.
    pub fn chunk(&self, key: Key<'_>, number: u64) -> Vec<u8> {
        self.within("history", key.namespace, &format!("{}/{number:0DIGITS$}", escaped(key.dependency)))
    }

    /// Of all transitions of a record.
    pub fn chunks(&self, key: Key<'_>) -> Span {
        span(self.within("history", key.namespace, &format!("{}/", escaped(key.dependency))))
    }

    /// Of all transitions of a namespace.
    pub fn history(&self, namespace: &str) -> Span {
        span(self.within("history", namespace, ""))
    }

    /// The dependency that a record's key speaks of; none where it is no such key.
    pub fn dependency_of_record(&self, key: &[u8]) -> Option<String> {
        unescaped(self.parts("record", key)?.1)
    }

    /// The dependency whose transitions these are, and the number of the first.
    pub fn dependency_of_chunk(&self, key: &[u8]) -> Option<(String, u64)> {
        let (dependency, number) = self.parts("history", key)?.1.rsplit_once('/')?;
        Some((unescaped(dependency)?, number.parse().ok()?))
    }

    fn within(&self, kind: &str, namespace: &str, rest: &str) -> Vec<u8> {
        format!("{}//{kind}/{}/{rest}", self.prefix, escaped(namespace)).into_bytes()
    }

    /// The escaped namespace of a key, and what follows it.
    fn parts<'k>(&self, kind: &str, key: &'k [u8]) -> Option<(&'k str, &'k str)> {
        let key = std::str::from_utf8(key).ok()?;
        key.strip_prefix(&self.prefix)?.strip_prefix("//")?.strip_prefix(kind)?.strip_prefix('/')?.split_once('/')
    }
}

/// What is wrong with a prefix; none where nothing is.
pub(super) fn check_prefix(prefix: &str) -> Option<&'static str> {
    if prefix.is_empty() || prefix.split('/').any(str::is_empty) {
        return Some("the prefix has an empty part; write it like `halfopen` or `teams/payments`");
    }
    if prefix.chars().any(char::is_control) {
        return Some("the prefix holds a control character");
    }
    (prefix.len() > 256).then_some("the prefix is longer than 256 bytes")
}

fn escaped(name: &str) -> String {
    utf8_percent_encode(name, ESCAPED).to_string()
}

fn unescaped(name: &str) -> Option<String> {
    percent_decode(name.as_bytes()).decode_utf8().ok().map(String::from)
}

/// All keys that begin so.
fn span(start: Vec<u8>) -> Span {
    let mut end = start.clone();
    // The start ends in a slash, so the last byte can rise.
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    (start, end)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 14] = ["", "a", "a/b", "b", "%2F", "a%2Fb", "/", "//", "a ", "a\0", "é", "record", "a//b", "%"];

    #[test]
    fn no_two_pairs_share_a_key_and_every_key_is_read_back() {
        let keys = Keys::new("p/q");
        let mut seen = std::collections::HashMap::new();
        for namespace in NAMES {
            for dependency in NAMES {
                let key = Key { namespace, dependency };
                let record = keys.record(key);
                assert_eq!(keys.dependency_of_record(&record).as_deref(), Some(dependency));
                assert_eq!(keys.dependency_of_chunk(&keys.chunk(key, 17)), Some((dependency.to_owned(), 17)));
                if let Some(other) = seen.insert(record, key) {
                    panic!("{key:?} and {other:?} share a key");
                }
            }
        }
    }

    #[test]
    fn the_range_of_a_namespace_holds_its_own_keys_and_no_others() {
        let prefixes = ["a", "a/b", "a/record"];
        for prefix in prefixes {
            for namespace in NAMES {
                let keys = Keys::new(prefix);
                let (start, end) = keys.records(namespace);
                let (first, last) = keys.history(namespace);
                for other in prefixes {
                    for elsewhere in NAMES {
                        let key = Key { namespace: elsewhere, dependency: "x/y" };
                        let own = (other, elsewhere) == (prefix, namespace);
                        let others = Keys::new(other);
                        let (record, chunk) = (others.record(key), others.chunk(key, 1));
                        assert_eq!(record >= start && record < end, own, "{namespace:?} and {key:?}");
                        assert_eq!(chunk >= first && chunk < last, own, "{namespace:?} and {key:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_prefix_with_an_empty_part_is_refused() {
        for prefix in ["", "/", "a/", "/a", "a//b", "a\n"] {
            assert!(check_prefix(prefix).is_some(), "{prefix:?}");
        }
        assert_eq!(check_prefix("teams/payments"), None);
    }
}
