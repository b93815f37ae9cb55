//! `KEY=VALUE` arguments.

use halfopen::Policy;
use serde_json::{Map, Value};

use super::{document, shorthand};
use crate::exit::{Code, Failure};
use crate::shell::text;

/// A key with its table, and its new value.
struct Assignment<'a> {
    given: &'a str,
    table: Option<String>,
    key: String,
    value: Value,
}

/// A policy with `KEY=VALUE` arguments applied.
pub fn changed(base: &Policy, arguments: &[String]) -> anyhow::Result<Policy> {
    let mut object = base.as_object().clone();
    let mut applied: Vec<Assignment<'_>> = Vec::new();
    for argument in arguments {
        let assignment = parse(argument)?;
        if let Some(other) = applied.iter().find(|other| other.conflicts_with(&assignment)) {
            let [one, other] = [other.given, argument].map(text::shortened);
            let message = format!("{one:?} and {other:?} cannot both hold; give one of them");
            return Err(Failure::error(Code::Usage, message));
        }
        assignment.apply(&mut object);
        applied.push(assignment);
    }
    Ok(Policy::from(object))
}

fn parse(argument: &str) -> anyhow::Result<Assignment<'_>> {
    let (name, text) = argument.split_once('=').ok_or_else(|| {
        let message = "is not KEY=VALUE; a policy file comes first, and there is at most one";
        Failure::error(Code::Usage, format!("{:?} {message}", text::shortened(argument)))
    })?;
    let name = name.trim();
    let value = document::parse_value(text.trim())
        .map_err(|why| Failure::error(Code::Data, format!("{:?}: {why}", text::shortened(name))))?;
    let (table, key) = match name.split_once('.') {
        Some((table, key)) => (Some(table.to_owned()), key),
        None => (None, name),
    };
    let (key, value) = match value {
        Value::Object(inner) => {
            let inner = shorthand::expand(inner, "", &mut |_, _| {}).map_err(|why| Failure::error(Code::Data, why))?;
            (key.to_owned(), Value::Object(inner))
        }
        value => shorthand::expand_entry(key.to_owned(), value),
    };
    Ok(Assignment { given: argument, table, key, value })
}

/// The table of which a policy has either key: a new one replaces the other.
const CHOICE: &str = "window";

impl Assignment<'_> {
    /// Whether the two set the same value.
    fn conflicts_with(&self, other: &Assignment<'_>) -> bool {
        match (&self.table, &other.table) {
            (Some(table), Some(others)) => table == others && (self.key == other.key || table == CHOICE),
            (Some(table), None) => *table == other.key,
            (None, Some(table)) => *table == self.key,
            (None, None) => self.key == other.key,
        }
    }

    fn apply(&self, object: &mut Map<String, Value>) {
        let Some(table) = &self.table else {
            object.insert(self.key.clone(), self.value.clone());
            return;
        };
        let mut inner = match object.get(table) {
            Some(Value::Object(inner)) if table != CHOICE => inner.clone(),
            _ => Map::new(),
        };
        inner.insert(self.key.clone(), self.value.clone());
        object.insert(table.clone(), Value::Object(inner));
    }
}
