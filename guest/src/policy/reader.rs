//! The reader of a policy's fields, with all faults.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hifijson::value::Value;

use super::decimal;
use super::nearest::nearest;
use super::range::Range;
use super::types::{LostProbe, WindowSpan};
use crate::contract::PolicyFault;
use crate::text::{clean, is_clean};

/// A JSON value.
pub type Json<'a> = Value<&'a str, Cow<'a, str>>;
type Object<'a> = [(Cow<'a, str>, Json<'a>)];

/// Reads the fields of a JSON object into a policy, and compares all fields with their ranges, given or not.
pub struct Reader<'a> {
    object: &'a Object<'a>,
    /// The keys that a policy may have.
    known: Vec<&'static str>,
    /// The faults so far.
    pub faults: Vec<PolicyFault>,
}

impl<'a> Reader<'a> {
    /// Without fields given it only compares.
    pub fn new(object: &'a Object<'a>) -> Reader<'a> {
        Reader { object, known: Vec::new(), faults: Vec::new() }
    }

    /// The value of a key, the first where it is given twice. A key that is missing in a table is a fault.
    fn value(&mut self, key: &'static str) -> Option<&'a Json<'a>> {
        self.known.push(key);
        let Some((table, field)) = key.split_once('.') else {
            return find(self.object, key);
        };
        let Some(Value::Object(object)) = find(self.object, table) else { return None };
        let value = find(object, field);
        if value.is_none() && !self.is_faulty(table) {
            self.fault(key, "is missing; a table is given whole".into());
        }
        value
    }

    fn fault(&mut self, field: &str, why: String) {
        self.faults.push(PolicyFault { field: field.into(), why });
    }

    fn is_faulty(&self, key: &str) -> bool {
        self.faults.iter().any(|fault| fault.field == key)
    }

    fn wrong(&mut self, key: &'static str, must: &str, value: Option<&Json>) {
        self.fault(key, value.map_or_else(|| must.into(), |value| format!("{must}, not {}", shown(value))));
    }

    /// Finds the keys that are unknown or given twice, once all fields are read.
    pub fn check_keys(&mut self) {
        self.known.extend(["window.ms", "window.calls"]);
        let object = self.object;
        self.check_table("", object);
        for (key, value) in object {
            let table = format!("{key}.");
            if let Value::Object(fields) = value
                && self.known.iter().any(|known| known.starts_with(&table))
            {
                self.check_table(&table, fields);
            }
        }
    }

    fn check_table(&mut self, table: &str, object: &Object) {
        for (at, (key, _)) in object.iter().enumerate() {
            let path = format!("{table}{key}");
            // A key with a dot in it is not the field of a table.
            if !self.known.contains(&&*path) || key.contains('.') {
                let known =
                    self.known.iter().filter_map(|known| known.strip_prefix(table)).filter(|key| !key.contains('.'));
                let why = match nearest(key, known) {
                    Some(near) => format!("is unknown; did you mean `{table}{near}`?"),
                    None => "is unknown".into(),
                };
                self.fault(&clean(&path), why);
            } else if object[..at].iter().any(|(earlier, _)| earlier == key) {
                self.fault(&path, "is given twice".into());
            }
        }
    }

    fn given_or_default(&self, key: &str, number: u64) -> String {
        let default = if find(self.object, key).is_none() { " (the default)" } else { "" };
        format!("{number}{default}")
    }

    /// A whole number.
    pub fn number(&mut self, key: &'static str, number: &mut u64, range: &Range) {
        let value = self.value(key);
        *number = value.map_or(*number, whole);
        if !range.holds(*number) {
            self.wrong(key, range.text, value);
        }
    }

    /// The backoff multiplier.
    pub fn multiplier(&mut self, key: &'static str, multiplier: &mut f64) {
        let value = self.value(key);
        *multiplier = match value {
            None => *multiplier,
            Some(Value::Number((number, _))) => decimal::parse(number).unwrap_or(f64::NAN),
            Some(_) => f64::NAN,
        };
        if !(1.0..=100.0).contains(multiplier) {
            self.wrong(key, "must be a number from 1 to 100", value);
        }
    }

    /// A table. One that is switched on here starts out with `least`, and its fields are then read.
    pub fn table<T>(&mut self, key: &'static str, table: &mut Option<T>, least: T) {
        let value = self.value(key);
        match value {
            None => {}
            Some(Value::Object(_)) => _ = table.get_or_insert(least),
            Some(Value::Null) => *table = None,
            Some(Value::String(text)) if text == "off" => *table = None,
            Some(_) => {
                self.wrong(key, "must be an object, or null to switch it off", value);
                *table = None;
            }
        }
    }

    /// Which of the two kinds of window it is.
    pub fn window(&mut self, key: &'static str, window: &mut WindowSpan) {
        const MUST: &str = "must be an object with either `ms` or `calls`";
        let value = self.value(key);
        match value {
            None => {}
            Some(Value::Object(object)) => match (find(object, "ms"), find(object, "calls")) {
                (Some(_), None) => *window = WindowSpan::Ms(0),
                (None, Some(_)) => *window = WindowSpan::Calls(0),
                (Some(_), Some(_)) => self.fault(key, format!("{MUST}, not with both")),
                (None, None) => self.fault(key, format!("{MUST}, not without")),
            },
            Some(_) => self.wrong(key, MUST, value),
        }
    }

    /// What follows a lost probe.
    pub fn lost_probe(&mut self, key: &'static str, lost_probe: &mut LostProbe) {
        let value = self.value(key);
        match value {
            None => {}
            Some(Value::String(text)) if text == "reprobe" => *lost_probe = LostProbe::Reprobe,
            Some(Value::String(text)) if text == "reopen" => *lost_probe = LostProbe::Reopen,
            Some(_) => self.wrong(key, "must be \"reprobe\" or \"reopen\"", value),
        }
    }

    /// Two lengths, of which the first is at most the second.
    pub fn at_most(&mut self, (key, length): (&'static str, u64), (limit_key, limit): (&'static str, u64)) {
        if length <= limit || self.is_faulty(key) || self.is_faulty(limit_key) {
            return;
        }
        let (value, limit_value) = (self.given_or_default(key, length), self.given_or_default(limit_key, limit));
        if find(self.object, key).is_some() {
            self.fault(key, format!("is {value}, and must be at most `{limit_key}`, which is {limit_value}"));
        } else {
            self.fault(limit_key, format!("is {limit_value}, and must be at least `{key}`, which is {value}"));
        }
    }
}

fn find<'a>(object: &'a Object<'a>, key: &str) -> Option<&'a Json<'a>> {
    object.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// A whole number that is written as one; any other value is the greatest u64, which no range holds.
fn whole(value: &Json) -> u64 {
    match value {
        Value::Number((number, _)) => number.parse().unwrap_or(u64::MAX),
        _ => u64::MAX,
    }
}

/// A value in an error text.
pub fn shown(value: &Json) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(value) => format!("{value}"),
        Value::Number((number, _)) if number.len() <= 40 => String::from(*number),
        Value::Number(_) => "a long number".into(),
        Value::String(text) if text.len() <= 40 && is_clean(text) => format!("\"{text}\""),
        Value::String(_) => "a long text".into(),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}
