//! A policy as TOML, in the form that `policy set` reads.

use halfopen::Policy;
use serde_json::Value;

/// A policy as the text of a file.
pub fn to_toml(policy: &Policy) -> String {
    let lines = policy.as_object().iter().map(|(key, value)| format!("{key} = {}\n", shown(value)));
    lines.collect()
}

fn shown(value: &Value) -> String {
    match value {
        // TOML has no null.
        Value::Null => "\"off\"".to_owned(),
        Value::Object(table) => {
            let fields: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            format!("{{ {} }}", fields.join(", "))
        }
        // Numbers and plain words are written alike in both.
        plain => plain.to_string(),
    }
}
