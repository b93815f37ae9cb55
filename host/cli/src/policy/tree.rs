//! Policies as people write them, TOML or JSON, as one tree that knows the lines.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use toml::de::{DeTable, DeValue};

/// A value, as far as policies need to tell values apart.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Table(Vec<Entry>),
    /// Something that no policy holds; what it is.
    Other(&'static str),
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    /// The line in the file, where that is known.
    pub line: Option<usize>,
    pub value: Value,
}

/// Reads a policy file. JSON starts with a brace, which TOML never does.
pub fn read(text: &str) -> Result<Vec<Entry>, String> {
    if text.trim_start().starts_with('{') {
        return match serde_json::from_str(text) {
            Ok(Value::Table(entries)) => Ok(entries),
            Ok(_) => Err("not a JSON object".to_owned()),
            Err(error) if error.is_data() => Err(error.to_string()),
            Err(error) => Err(format!("not JSON: {error}")),
        };
    }
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map(|span| format!("line {}: ", line_of(text, span.start))).unwrap_or_default();
        format!("{at}not TOML: {}", error.message())
    })?;
    Ok(from_table(table.into_inner(), text))
}

/// Reads a single value of a `key=value` argument: TOML where it is that, otherwise a bare word.
pub fn value(text: &str) -> Result<Value, String> {
    // In TOML more could follow on another line, or be hidden in a comment.
    if text.contains(|c: char| c == '#' || c.is_control()) {
        return Err("a value is a number, a word or a table, on one line and without \"#\"".to_owned());
    }
    let document = format!("value = {text}");
    Ok(match DeTable::parse(&document) {
        Ok(table) => match from_table(table.into_inner(), &document).pop() {
            Some(entry) => without_lines(entry.value),
            None => Value::Null,
        },
        Err(_) if text == "null" => Value::Null,
        Err(_) => Value::Text(text.to_owned()),
    })
}

fn without_lines(value: Value) -> Value {
    match value {
        Value::Table(entries) => Value::Table(
            entries.into_iter().map(|entry| Entry { line: None, value: without_lines(entry.value), ..entry }).collect(),
        ),
        other => other,
    }
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

fn from_table(table: DeTable<'_>, text: &str) -> Vec<Entry> {
    let entry = |(key, value): (toml::Spanned<std::borrow::Cow<'_, str>>, toml::Spanned<DeValue<'_>>)| Entry {
        line: Some(line_of(text, key.span().start)),
        key: key.into_inner().into_owned(),
        value: from_toml(value.into_inner(), text),
    };
    let mut entries: Vec<Entry> = table.into_iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.line);
    entries
}

fn from_toml(value: DeValue<'_>, text: &str) -> Value {
    match value {
        DeValue::String(string) => Value::Text(string.into_owned()),
        DeValue::Boolean(flag) => Value::Bool(flag),
        DeValue::Table(table) => Value::Table(from_table(table, text)),
        DeValue::Array(_) => Value::Other("an array"),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Float(float) => {
            let number = float.as_str().parse().ok().and_then(Number::from_f64);
            number.map_or(Value::Other("not a finite number"), Value::Number)
        }
        DeValue::Integer(integer) => {
            let (digits, radix) = (integer.as_str(), integer.radix());
            let number = u64::from_str_radix(digits, radix)
                .map(Number::from)
                .or_else(|_| i64::from_str_radix(digits, radix).map(Number::from));
            // Too large for either: some float that is out of every range as well.
            let huge = || Number::from_f64(digits.parse().unwrap_or(f64::MAX)).unwrap_or_else(|| u64::MAX.into());
            Value::Number(number.unwrap_or_else(|_| huge()))
        }
    }
}

/// The same from JSON. A key that occurs twice is an error, as in TOML.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Value;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value::Null)
            }
            fn visit_bool<E>(self, flag: bool) -> Result<Value, E> {
                Ok(Value::Bool(flag))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
                Ok(Value::Number(number.into()))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
                Ok(Value::Number(number.into()))
            }
            fn visit_f64<E>(self, number: f64) -> Result<Value, E> {
                Ok(Number::from_f64(number).map_or(Value::Other("not a finite number"), Value::Number))
            }
            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value::Text(text.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Value::Other("an array"))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                let mut entries: Vec<Entry> = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    if entries.iter().any(|entry| entry.key == key) {
                        return Err(A::Error::custom(format_args!("the key {key:?} occurs twice")));
                    }
                    let value = map.next_value()?;
                    entries.push(Entry { key, line: None, value });
                }
                Ok(Value::Table(entries))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

/// The tree as JSON, which a policy is read from. Only for trees that have been checked.
pub fn to_json(entries: &[Entry]) -> serde_json::Value {
    let fields = entries.iter().map(|entry| {
        let value = match &entry.value {
            Value::Null | Value::Other(_) => serde_json::Value::Null,
            Value::Bool(flag) => (*flag).into(),
            Value::Number(number) => serde_json::Value::Number(number.clone()),
            Value::Text(text) => text.as_str().into(),
            Value::Table(entries) => to_json(entries),
        };
        (entry.key.clone(), value)
    });
    serde_json::Value::Object(fields.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_keeps_its_lines() {
        let entries = read("# a comment\nopen_ms = 100\n\n[failure_rate]\npercent = 5\n").unwrap();
        let lines: Vec<_> = entries.iter().map(|entry| (entry.key.as_str(), entry.line)).collect();
        assert_eq!(lines, [("open_ms", Some(2)), ("failure_rate", Some(4))]);
        let Value::Table(inner) = &entries[1].value else { panic!("{entries:?}") };
        assert_eq!((inner[0].key.as_str(), inner[0].line), ("percent", Some(5)));
    }

    #[test]
    fn syntax_errors_have_their_line() {
        let error = read("open_ms = 1\nlease_ms = = 2\n").unwrap_err();
        assert!(error.starts_with("line 2: not TOML"), "{error}");
        assert!(read("{\"open_ms\": }").unwrap_err().contains("line 1 column"));
    }

    #[test]
    fn arguments_hold_numbers_words_and_tables() {
        assert_eq!(value("5").unwrap(), Value::Number(5.into()));
        assert_eq!(value("-5").unwrap(), Value::Number((-5).into()));
        assert_eq!(value("reopen").unwrap(), Value::Text("reopen".to_owned()));
        assert_eq!(value("null").unwrap(), Value::Null);
        let Ok(Value::Table(entries)) = value("{ ms = 10 }") else { panic!() };
        assert_eq!(entries, [Entry { key: "ms".to_owned(), line: None, value: Value::Number(10.into()) }]);
    }

    #[test]
    fn a_key_that_occurs_twice_is_named_in_either_form() {
        for (text, key) in [
            (r#"{"open_ms": 1, "open_ms": 2}"#, "open_ms"),
            (r#"{"failure_rate": {"percent": 1, "percent": 2, "minimum_calls": 3}}"#, "percent"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(&format!("the key {key:?} occurs twice at line 1 column ")), "{error}");
        }
        assert!(read("open_ms = 1\nopen_ms = 2").unwrap_err().contains("line 2: not TOML: duplicate key"));
    }

    #[test]
    fn integers_too_large_for_any_type_are_numbers_still() {
        let entries = read("open_ms = 99999999999999999999\n");
        // The TOML reader may refuse them itself; it must not panic, and must not make them small.
        if let Ok(entries) = entries {
            let Value::Number(number) = &entries[0].value else { panic!("{entries:?}") };
            assert!(number.as_f64().unwrap() > 1e18);
        }
    }
}
