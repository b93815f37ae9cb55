//! Policies as operators write them: files in TOML or JSON, and `KEY=VALUE`. They become the JSON of the contract; the engine
//! alone knows the keys, their ranges and their defaults.

mod changes;
mod presets;
mod shorthand;
#[cfg(test)]
mod tests;

use std::path::Path;

use halfopen::{Policy, PolicyFault};
use serde_json::{Map, Value};

pub use self::changes::changed;
pub use self::presets::preset;
use crate::exit::{Code, Failure};

/// The largest file that is read, in bytes. A policy has a few hundred.
const LARGEST: u64 = 1 << 20;

/// The policy in a file.
pub fn read(path: &Path) -> anyhow::Result<Policy> {
    let unreadable =
        |why: String| Failure::error(Code::NoInput, format!("cannot use the policy file {}: {why}", path.display()));
    // Before it is opened: opening a pipe without a writer would block.
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if !metadata.is_file() {
        let why = if metadata.is_dir() { "it is a directory" } else { "it is not a regular file" };
        return Err(unreadable(format!("{why}; give a TOML or JSON file")));
    }
    if metadata.len() > LARGEST {
        return Err(fault(path, "it is larger than 1 MiB"));
    }
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| fault(path, "it is not UTF-8"))?;
    // Some editors begin a file with a byte order mark.
    parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(|why| fault(path, &why))
}

/// The error for faults that the engine has found in the policy of a file.
pub fn refused(path: &Path, faults: &[PolicyFault]) -> anyhow::Error {
    fault(path, &faults.iter().map(PolicyFault::to_string).collect::<Vec<_>>().join("; "))
}

fn fault(path: &Path, why: &str) -> anyhow::Error {
    Failure::error(Code::Data, format!("policy file {}: {why}", path.display()))
}

/// Reads a file's text. JSON starts with a brace, and TOML never does.
fn parse(text: &str) -> Result<Policy, String> {
    let object = if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?
    } else {
        from_toml(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = 1 + text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count();
            format!("line {line}: not TOML: {}", error.message())
        })?
    };
    Ok(Policy::from(shorthand::expand(object)?))
}

fn from_toml(text: &str) -> Result<Map<String, Value>, toml::de::Error> {
    toml::from_str(text)
}

/// A policy as TOML, in the form that `policy set` reads.
pub fn to_toml(policy: &Policy) -> String {
    policy.as_object().iter().map(|(key, value)| format!("{key} = {}\n", shown(value))).collect()
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
