//! JSON objects read strictly: a key that occurs twice is an error, and so is a key that the format does not have.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::error::Category;
use serde_json::value::RawValue;

/// A value of an object, as it is written.
pub type Raw = RawValue;

/// The fields of an object, taken one by one. A field that is left at the end did not belong there.
pub struct Fields {
    /// The object, as messages name it: "the first line", "an acquire step".
    what: String,
    left: Vec<(String, Box<Raw>)>,
    /// The keys that were looked for: those that the object may have.
    known: Vec<&'static str>,
}

impl Fields {
    /// The fields of a line.
    pub fn of_line(what: &str, line: &str) -> Result<Self, String> {
        if line.trim().is_empty() {
            return Err("an empty line; every line is one JSON object".to_owned());
        }
        let raw: &Raw = serde_json::from_str(line).map_err(|error| explained(&error))?;
        Self::of(what, raw)
    }

    /// The fields of a value.
    pub fn of(what: &str, raw: &Raw) -> Result<Self, String> {
        if !raw.get().starts_with('{') {
            return Err(format!("{what} must be an object, got {}", kind(raw)));
        }
        let Unique(left) = serde_json::from_str(raw.get()).map_err(|error| explained(&error))?;
        Ok(Fields { what: what.to_owned(), left, known: Vec::new() })
    }

    /// Renames the object once its kind is known.
    pub fn rename(&mut self, what: String) {
        self.what = what;
    }

    /// The value of a key, as `read` reads it.
    pub fn optional<T>(&mut self, key: &'static str, read: Read<T>) -> Result<Option<T>, String> {
        self.known.push(key);
        let Some(place) = self.left.iter().position(|(known, _)| known == key) else { return Ok(None) };
        read(key, &self.left.remove(place).1).map(Some)
    }

    /// The same for a key that must be there.
    pub fn required<T>(&mut self, key: &'static str, read: Read<T>) -> Result<T, String> {
        self.optional(key, read)?.ok_or_else(|| format!("{} lacks {key:?}", self.what))
    }

    /// Whether a field is left.
    pub fn has(&self, key: &str) -> bool {
        self.left.iter().any(|(known, _)| known == key)
    }

    /// All fields, which may have these keys and are read alike.
    pub fn read_all<T>(mut self, keys: &[&'static str], read: Read<T>) -> Result<Vec<(String, T)>, String> {
        let mut all = Vec::new();
        for key in keys {
            all.extend(self.optional(key, read)?.map(|value| ((*key).to_owned(), value)));
        }
        self.finish().map(|()| all)
    }

    /// The fields that are left, in their order.
    pub fn rest(self) -> Vec<(String, Box<Raw>)> {
        self.left
    }

    /// Refuses a field that is left.
    pub fn finish(self) -> Result<(), String> {
        match self.left.first() {
            None => Ok(()),
            Some((key, _)) => {
                let meant = nearest(key, &self.known).map(|meant| format!("; did you mean {meant:?}?"));
                Err(format!("{} has no key {key:?}{}", self.what, meant.unwrap_or_default()))
            }
        }
    }
}

/// Reads the value of a key.
pub type Read<T> = fn(&str, &Raw) -> Result<T, String>;

/// A string.
pub fn string(key: &str, raw: &Raw) -> Result<String, String> {
    serde_json::from_str(raw.get()).map_err(|_| wrong_type(key, "a string", raw))
}

/// True or false.
pub fn boolean(key: &str, raw: &Raw) -> Result<bool, String> {
    serde_json::from_str(raw.get()).map_err(|_| wrong_type(key, "true or false", raw))
}

/// A whole number from 0 to `u64::MAX`.
pub fn whole(key: &str, raw: &Raw) -> Result<u64, String> {
    whole_number(raw).ok_or_else(|| wrong_type(key, "a whole number", raw))
}

/// The whole number that a value is. 5.0 is 5: not every writer of JSON keeps the two apart.
pub fn whole_number(raw: &Raw) -> Option<u64> {
    let number: serde_json::Number = serde_json::from_str(raw.get()).ok()?;
    let fraction = || number.as_f64().filter(|number| number.fract() == 0.0 && (0.0..9e15).contains(number));
    number.as_u64().or_else(|| fraction().map(|number| number as u64))
}

/// One of a few words.
pub fn word<T: std::str::FromStr<Err: fmt::Display>>(key: &str, raw: &Raw) -> Result<T, String> {
    string(key, raw)?.parse().map_err(|error| format!("{key:?}: {error}"))
}

/// One of these words.
pub fn one_of(key: &str, raw: &Raw, words: &[&'static str]) -> Result<&'static str, String> {
    let text = string(key, raw)?;
    let known = words.iter().find(|word| **word == text).copied();
    known.ok_or_else(|| format!("{key:?}: `{text}` is none of {}", words.join(", ")))
}

/// The message about a value of another type.
pub fn wrong_type(key: &str, wanted: &str, got: &Raw) -> String {
    format!("{key:?} must be {wanted}, got {}", kind(got))
}

/// The kind of a value, in words that fit behind "got".
fn kind(raw: &Raw) -> &'static str {
    match raw.get().as_bytes().first() {
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b'"') => "a string",
        Some(b't' | b'f') => "a boolean",
        Some(b'n') => "null",
        Some(b'-') => "a negative number",
        _ if whole_number(raw).is_some() => "a number",
        _ => "a number that is not a whole one from 0 to 18446744073709551615",
    }
}

fn explained(error: &serde_json::Error) -> String {
    let column = error.column();
    let text = error.to_string();
    let what = text.strip_suffix(&format!(" at line 1 column {column}")).unwrap_or(&text);
    match error.classify() {
        Category::Eof => format!("the line ends in the middle ({what}); the file seems to be cut"),
        Category::Data => what.to_owned(),
        Category::Io | Category::Syntax => format!("not JSON at column {column}: {what}"),
    }
}

/// The nearest of some words, where one is near enough to have been meant. Case, and `-` in place of `_`, do not matter.
fn nearest<'a>(typed: &str, known: &[&'a str]) -> Option<&'a str> {
    let typed = typed.to_lowercase().replace('-', "_");
    let near = known.iter().map(|word| (strsim::jaro_winkler(&typed, word), *word)).filter(|(score, _)| *score > 0.75);
    near.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, word)| word)
}

/// The fields of an object in their order, none of them twice.
pub struct Unique(pub Vec<(String, Box<Raw>)>);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Unique;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
                let mut fields: Vec<(String, Box<Raw>)> = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, Box<Raw>>()? {
                    if fields.iter().any(|(known, _)| *known == key) {
                        return Err(A::Error::custom(format_args!("the key {key:?} occurs twice")));
                    }
                    fields.push((key, value));
                }
                Ok(Unique(fields))
            }
        }

        deserializer.deserialize_map(Object)
    }
}
