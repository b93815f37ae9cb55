//! A policy file in TOML or JSON, as a JSON object with the lines of its keys.

use std::borrow::Cow;
use std::collections::BTreeMap;

use halfopen::{Policy, PolicyFault};
use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{shorthand, unique_keys};

/// A JSON object, and the lines of its keys where they are known.
pub struct Document {
    object: Map<String, Value>,
    /// Keys in tables have the name of the table and a dot before them.
    lines: BTreeMap<String, usize>,
}

impl Document {
    /// The object as a policy.
    pub fn policy(&self) -> Policy {
        Policy::from(self.object.clone())
    }

    /// The line of a fault's key, where it is known. A key that is missing in a table has the line of the table.
    pub fn line(&self, fault: &PolicyFault) -> Option<usize> {
        let table = fault.field.split('.').next().unwrap_or_default();
        self.lines.get(&fault.field).or_else(|| self.lines.get(table)).copied()
    }

    /// A fault with the line of its key before it.
    pub fn with_line(&self, fault: &PolicyFault) -> String {
        match self.line(fault) {
            Some(line) => format!("line {line}: {fault}"),
            None => fault.to_string(),
        }
    }
}

/// Reads a file's text. JSON starts with a brace, and TOML never does.
pub fn parse(text: &str) -> Result<Document, String> {
    let mut lines = BTreeMap::new();
    let object = if text.trim_start().starts_with('{') {
        unique_keys::parse(text)?
    } else {
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map(|span| format!("line {}: ", line_of(text, span.start))).unwrap_or_default();
            format!("{at}not TOML: {}", error.message())
        })?;
        from_table(table.into_inner(), "", &mut |path, offset| {
            lines.insert(path, line_of(text, offset));
        })
    };
    let object = shorthand::expand(object, "", &mut |short, long| {
        if let Some(line) = lines.get(short).copied() {
            lines.insert(long.to_owned(), line);
        }
    })?;
    Ok(Document { object, lines })
}

/// Reads the value of a `KEY=VALUE` argument: a TOML value, or else a bare word.
pub fn parse_value(text: &str) -> Result<Value, String> {
    // In TOML a second key could follow on another line, or a comment.
    if text.contains(|c: char| c == '#' || c.is_control()) {
        return Err("a value is a number, a word, a duration or a table, on one line and without \"#\"".to_owned());
    }
    let document = format!("value = {text}");
    Ok(match DeTable::parse(&document) {
        Ok(table) => from_table(table.into_inner(), "", &mut |_, _| {}).remove("value").unwrap_or_default(),
        Err(_) if text == "null" => Value::Null,
        Err(_) => Value::String(text.to_owned()),
    })
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

/// A TOML table as a JSON object, in the order of the text. `place` gets the path of each key and its offset.
fn from_table(table: DeTable<'_>, prefix: &str, place: &mut impl FnMut(String, usize)) -> Map<String, Value> {
    let mut entries: Vec<(Spanned<Cow<'_, str>>, Spanned<DeValue<'_>>)> = table.into_iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut object = Map::new();
    for (key, value) in entries {
        let path = format!("{prefix}{}", key.get_ref());
        let value = match value.into_inner() {
            DeValue::Table(inner) => Value::Object(from_table(inner, &format!("{path}."), place)),
            DeValue::Array(array) => Value::Array(vec![Value::Null; array.len()]),
            DeValue::String(text) => Value::String(text.into_owned()),
            DeValue::Boolean(flag) => Value::Bool(flag),
            DeValue::Datetime(date) => Value::String(date.to_string()),
            DeValue::Float(float) => number(float.as_str().parse().ok()),
            DeValue::Integer(integer) => {
                let (digits, radix) = (integer.as_str(), integer.radix());
                match (u64::from_str_radix(digits, radix), i64::from_str_radix(digits, radix)) {
                    (Ok(whole), _) => whole.into(),
                    (_, Ok(negative)) => negative.into(),
                    // Beyond every range, as a number with a fraction is.
                    _ => number(digits.parse().ok()),
                }
            }
        };
        place(path, key.span().start);
        object.insert(key.into_inner().into_owned(), value);
    }
    object
}

/// A number; one that JSON does not have is the largest, which no range holds.
fn number(number: Option<f64>) -> Value {
    number.and_then(Number::from_f64).map_or(Value::from(u64::MAX), Value::Number)
}
