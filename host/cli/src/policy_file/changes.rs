//! `KEY=VALUE` arguments.

use halfopen::Policy;
use serde_json::Value;

use super::{from_toml, shorthand};
use crate::exit::{Code, Failure};
use crate::shell::text;

/// A policy with `KEY=VALUE` arguments applied. Together the arguments are a TOML document, in which a word needs no quotes.
pub fn changed(base: &Policy, arguments: &[String]) -> anyhow::Result<Policy> {
    let mut document = String::new();
    for argument in arguments {
        let line = line(argument)
            .map_err(|why| Failure::error(Code::Usage, format!("{:?} {why}", text::shortened(argument))))?;
        document += &line;
        if from_toml(&document).is_err() {
            let message = format!("{:?} sets a value that another argument sets too", text::shortened(argument));
            return Err(Failure::error(Code::Usage, message));
        }
    }
    let changes = shorthand::expand(from_toml(&document)?).map_err(|why| Failure::error(Code::Usage, why))?;
    let mut object = base.as_object().clone();
    for (key, value) in changes {
        match (object.get_mut(&key), value) {
            // A window has one key or the other.
            (Some(Value::Object(table)), Value::Object(changed)) if key != "window" => table.extend(changed),
            (Some(old), value) => *old = value,
            (None, value) => drop(object.insert(key, value)),
        }
    }
    Ok(Policy::from(object))
}

/// A line of TOML.
fn line(argument: &str) -> Result<String, &'static str> {
    let Some((key, value)) = argument.split_once('=') else {
        return Err("is not KEY=VALUE; a policy file comes first, and there is at most one");
    };
    let is_one_value = !argument.contains(|c: char| c == '#' || c.is_control());
    let lines = [format!("{key} = {value}\n"), format!("{key} = {}\n", Value::from(value.trim()))];
    lines
        .into_iter()
        .find(|line| is_one_value && from_toml(line).is_ok())
        .ok_or("is not KEY=VALUE: a value is a number, a word, a duration or a table, on one line and without \"#\"")
}
