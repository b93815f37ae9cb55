//! A policy read from JSON, with all its faults, and written as JSON.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use hifijson::SliceLexer;
use hifijson::token::Lex as _;
use hifijson::value::{Value, parse_bounded};

use super::decimal;
use super::fields::{Fields, visit};
use super::nearest::nearest;
use super::range::{MULTIPLIER, Range, holds_multiplier};
use super::types::{BUILT_IN, LostProbe, Policy, WindowSpan};
use crate::contract::PolicyFault;
use crate::text::{clean, is_clean};

/// The longest text, in bytes.
const LONGEST: usize = 65_536;
/// The deepest nesting: the policy, a table, and one level more for a fault that names its place.
const DEPTH: usize = 16;

type Json<'a> = Value<&'a str, Cow<'a, str>>;
type Object<'a> = [(Cow<'a, str>, Json<'a>)];

impl Policy {
    /// The policy that a JSON text gives; a key left out has the default of [`BUILT_IN`]. Of an invalid text, all faults.
    pub fn parse(text: &str) -> Result<Policy, Vec<PolicyFault>> {
        let value = read(text).map_err(whole_text)?;
        let Value::Object(object) = &value else {
            return Err(whole_text(format!("must be a JSON object, not {}", shown(&value))));
        };
        let mut policy = BUILT_IN;
        let mut reader = Reader { object, known: Vec::new(), faults: Vec::new() };
        visit(&mut policy, &mut reader);
        reader.check_keys();
        if reader.faults.is_empty() { Ok(policy) } else { Err(reader.faults) }
    }

    /// The policy as JSON, with all its keys.
    pub fn to_json(&self) -> String {
        // Writing to memory fails for no value of this type.
        serde_json::to_string(self).unwrap_or_default()
    }
}

fn whole_text(why: String) -> Vec<PolicyFault> {
    Vec::from([PolicyFault { field: String::new(), why }])
}

fn read(text: &str) -> Result<Json<'_>, String> {
    if text.len() > LONGEST {
        return Err("is longer than 65,536 bytes".into());
    }
    // Editors on Windows write it before the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lexer = SliceLexer::new(text.as_bytes());
    let value = lexer.exactly_one(SliceLexer::ws_peek, |next, lexer| parse_bounded(DEPTH, next, lexer));
    value.map_err(|error| {
        let before = &text.as_bytes()[..text.len() - lexer.as_slice().len()];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
        format!("is not JSON: {error}, at line {line}, column {column}")
    })
}

/// A value in an error text.
fn shown(value: &Json) -> String {
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

struct Reader<'a> {
    object: &'a Object<'a>,
    known: Vec<&'static str>,
    faults: Vec<PolicyFault>,
}

impl<'a> Reader<'a> {
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

    fn wrong(&mut self, key: &'static str, must: &str, value: &Json) {
        self.fault(key, format!("{must}, not {}", shown(value)));
    }

    /// Finds the keys that are unknown or given twice.
    fn check_keys(&mut self) {
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
}

fn find<'a>(object: &'a Object<'a>, key: &str) -> Option<&'a Json<'a>> {
    object.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

/// A whole number that is written as one. Any other number is the greatest u64, which no range holds.
fn whole(value: &Json) -> Option<u64> {
    match value {
        Value::Number((number, _)) => Some(number.parse().unwrap_or(u64::MAX)),
        _ => None,
    }
}

impl Fields for Reader<'_> {
    fn number(&mut self, key: &'static str, number: &mut u64, range: &Range) {
        let Some(value) = self.value(key) else { return };
        match whole(value).filter(|number| range.holds(*number)) {
            Some(valid) => *number = valid,
            None => self.wrong(key, range.text, value),
        }
    }

    fn multiplier(&mut self, key: &'static str, multiplier: &mut f64) {
        let Some(value) = self.value(key) else { return };
        let number = match value {
            Value::Number((number, _)) => decimal::parse(number),
            _ => None,
        };
        match number.filter(|number| holds_multiplier(*number)) {
            Some(valid) => *multiplier = valid,
            None => self.wrong(key, MULTIPLIER, value),
        }
    }

    fn table(&mut self, key: &'static str, is_on: bool) -> bool {
        match self.value(key) {
            None => is_on,
            Some(Value::Object(_)) => true,
            Some(Value::Null) => false,
            Some(Value::String(text)) if text == "off" => false,
            Some(value) => {
                self.wrong(key, "must be an object, or null to switch it off", value);
                false
            }
        }
    }

    fn window(&mut self, key: &'static str, window: &mut WindowSpan) {
        const MUST: &str = "must be an object with either `ms` or `calls`";
        match self.value(key) {
            None => {}
            Some(Value::Object(object)) => match (find(object, "ms"), find(object, "calls")) {
                (Some(_), None) => *window = WindowSpan::Ms(0),
                (None, Some(_)) => *window = WindowSpan::Calls(0),
                (Some(_), Some(_)) => self.fault(key, format!("{MUST}, not with both")),
                (None, None) => self.fault(key, format!("{MUST}, not without")),
            },
            Some(value) => self.wrong(key, MUST, value),
        }
    }

    fn lost_probe(&mut self, key: &'static str, lost_probe: &mut LostProbe) {
        match self.value(key) {
            None => {}
            Some(Value::String(text)) if text == "reprobe" => *lost_probe = LostProbe::Reprobe,
            Some(Value::String(text)) if text == "reopen" => *lost_probe = LostProbe::Reopen,
            Some(value) => self.wrong(key, "must be \"reprobe\" or \"reopen\"", value),
        }
    }

    fn at_most(&mut self, (key, length): (&'static str, u64), (limit_key, limit): (&'static str, u64)) {
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
