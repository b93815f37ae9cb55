//! JSON read strictly: a key that occurs twice is an error, and so is a key that nobody asked for.

use std::fmt;

use super::typo::nearest;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// A JSON value whose objects keep the order of their keys and hold none twice.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Json {
    Null,
    Bool(bool),
    /// A whole number from 0 to `u64::MAX`.
    Whole(u64),
    /// Any other number.
    Number(serde_json::Number),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    /// What kind of value this is, in words that fit behind "got".
    fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Whole(_) => "a number",
            Json::Number(number) if number.as_i64().is_some() => "a negative number",
            Json::Number(_) => "a number that is not a whole one from 0 to 18446744073709551615",
            Json::String(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }

    /// The same in serde_json's form, which `Policy` is read from.
    pub(super) fn into_value(self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Json::Null => Value::Null,
            Json::Bool(flag) => Value::Bool(flag),
            Json::Whole(number) => Value::Number(number.into()),
            Json::Number(number) => Value::Number(number),
            Json::String(text) => Value::String(text),
            Json::Array(items) => Value::Array(items.into_iter().map(Json::into_value).collect()),
            Json::Object(fields) => {
                Value::Object(fields.into_iter().map(|(key, value)| (key, value.into_value())).collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Json;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Json, E> {
                Ok(Json::Null)
            }
            fn visit_bool<E>(self, flag: bool) -> Result<Json, E> {
                Ok(Json::Bool(flag))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
                Ok(Json::Whole(number))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
                Ok(u64::try_from(number).map_or_else(|_| Json::Number(number.into()), Json::Whole))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Json, E> {
                // 5.0 is 5: not every reader of JSON can tell the two apart.
                if number.fract() == 0.0 && (0.0..9e15).contains(&number) {
                    return Ok(Json::Whole(number as u64));
                }
                serde_json::Number::from_f64(number).map(Json::Number).ok_or_else(|| E::custom("number out of range"))
            }
            fn visit_str<E>(self, text: &str) -> Result<Json, E> {
                Ok(Json::String(text.to_owned()))
            }
            fn visit_string<E>(self, text: String) -> Result<Json, E> {
                Ok(Json::String(text))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Json, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    items.push(item);
                }
                Ok(Json::Array(items))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
                let mut fields: Vec<(String, Json)> = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    if fields.iter().any(|(known, _)| *known == key) {
                        return Err(A::Error::custom(format_args!("the key {key:?} occurs twice")));
                    }
                    let value = map.next_value()?;
                    fields.push((key, value));
                }
                Ok(Json::Object(fields))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

/// Reads one line.
pub(super) fn parse_line(line: &str) -> Result<Json, String> {
    if line.trim().is_empty() {
        return Err("an empty line; every line is one JSON object".to_owned());
    }
    serde_json::from_str(line).map_err(|error| {
        let column = error.column();
        let text = error.to_string();
        let what = text.strip_suffix(&format!(" at line 1 column {column}")).unwrap_or(&text);
        match error.classify() {
            serde_json::error::Category::Eof => {
                format!("the line ends in the middle ({what}); the file seems to be cut")
            }
            serde_json::error::Category::Data => what.to_owned(),
            _ => format!("not JSON at column {column}: {what}"),
        }
    })
}

/// The fields of an object, taken one by one. What is left at the end did not belong there.
pub(super) struct Fields {
    what: &'static str,
    left: Vec<(String, Json)>,
    /// The keys that were asked for: those that the object may have.
    known: Vec<&'static str>,
}

impl Fields {
    /// `what` names the object in messages: "the first line", "an acquire step".
    pub(super) fn of(what: &'static str, value: Json) -> Result<Self, String> {
        match value {
            Json::Object(left) => Ok(Fields { what, left, known: Vec::new() }),
            other => Err(format!("{what} must be an object, got {}", other.kind())),
        }
    }

    /// Renames the object once more is known of it.
    pub(super) fn known_as(&mut self, what: &'static str) {
        self.what = what;
    }

    pub(super) fn take(&mut self, key: &'static str) -> Option<Json> {
        self.known.push(key);
        let place = self.left.iter().position(|(known, _)| known == key)?;
        Some(self.left.remove(place).1)
    }

    pub(super) fn string(&mut self, key: &'static str) -> Result<Option<String>, String> {
        self.take(key).map(|value| string(key, value)).transpose()
    }

    pub(super) fn whole(&mut self, key: &'static str) -> Result<Option<u64>, String> {
        self.take(key).map(|value| whole(key, value)).transpose()
    }

    pub(super) fn required<T>(&self, key: &str, value: Option<T>) -> Result<T, String> {
        value.ok_or_else(|| format!("{} lacks {key:?}", self.what))
    }

    pub(super) fn rest(self) -> Vec<(String, Json)> {
        self.left
    }

    pub(super) fn finish(self) -> Result<(), String> {
        match self.left.first() {
            None => Ok(()),
            Some((key, _)) => {
                let meant = nearest(key, &self.known).map(|meant| format!("; did you mean {meant:?}?"));
                Err(format!("{} has no key {key:?}{}", self.what, meant.unwrap_or_default()))
            }
        }
    }
}

pub(super) fn string(key: &str, value: Json) -> Result<String, String> {
    match value {
        Json::String(text) => Ok(text),
        other => Err(wrong_type(key, "a string", &other)),
    }
}

pub(super) fn whole(key: &str, value: Json) -> Result<u64, String> {
    match value {
        Json::Whole(number) => Ok(number),
        other => Err(wrong_type(key, "a whole number", &other)),
    }
}

pub(super) fn boolean(key: &str, value: Json) -> Result<bool, String> {
    match value {
        Json::Bool(flag) => Ok(flag),
        other => Err(wrong_type(key, "true or false", &other)),
    }
}

/// One of a few words.
pub(super) fn word<T: Copy>(key: &str, text: &str, words: &[(&str, T)]) -> Result<T, String> {
    words.iter().find(|(known, _)| *known == text).map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<String> = words.iter().map(|(word, _)| format!("{word:?}")).collect();
        format!("{key:?} is {text:?}; it must be one of {}", known.join(", "))
    })
}

pub(super) fn wrong_type(key: &str, wanted: &str, got: &Json) -> String {
    format!("{key:?} must be {wanted}, got {}", got.kind())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_occur_twice_are_refused_at_any_depth() {
        assert!(parse_line(r#"{"a": 1, "a": 2}"#).unwrap_err().contains("\"a\" occurs twice"));
        assert!(parse_line(r#"{"a": [{"b": 1, "b": 1}]}"#).unwrap_err().contains("\"b\" occurs twice"));
    }

    #[test]
    fn a_cut_line_is_told_from_a_wrong_one() {
        assert!(parse_line(r#"{"at": 5"#).unwrap_err().contains("cut"));
        assert!(parse_line(r#"{"at" 5}"#).unwrap_err().contains("not JSON at column 7"));
        assert!(parse_line(r#"{"at": 5} {"#).unwrap_err().contains("not JSON"));
        assert!(parse_line(" \t").unwrap_err().contains("empty line"));
    }

    #[test]
    fn numbers_keep_what_they_are() {
        assert_eq!(parse_line("5"), Ok(Json::Whole(5)));
        assert_eq!(parse_line("5.0"), Ok(Json::Whole(5)));
        assert_eq!(parse_line("18446744073709551615"), Ok(Json::Whole(u64::MAX)));
        for odd in ["-1", "0.5", "18446744073709551616", "1e30"] {
            let value = parse_line(odd).unwrap();
            assert!(whole("at", value.clone()).is_err(), "{odd}");
            assert!(value.into_value().is_number(), "{odd}");
        }
        assert!(parse_line("1e999").is_err());
    }

    #[test]
    fn what_nobody_asked_for_is_named() {
        let mut fields = Fields::of("a reset step", parse_line(r#"{"at": 1, "mood": "bad"}"#).unwrap()).unwrap();
        assert_eq!(fields.whole("at"), Ok(Some(1)));
        assert_eq!(fields.finish(), Err("a reset step has no key \"mood\"".to_owned()));
    }
}
