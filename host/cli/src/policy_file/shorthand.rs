//! Durations in policies: `open = "15m"` stands for `open_ms = 900000`, and `window = "30s"` for `window = { ms = 30000 }`.

use serde_json::{Map, Value, json};

/// Replaces durations, in tables too. `renamed` gets the old and the new path of a key.
pub fn expand(
    object: Map<String, Value>,
    prefix: &str,
    renamed: &mut impl FnMut(&str, &str),
) -> Result<Map<String, Value>, String> {
    let mut expanded = Map::new();
    for (key, value) in object {
        let path = format!("{prefix}{key}");
        let (key, value) = match value {
            Value::Object(inner) => (key, Value::Object(expand(inner, &format!("{path}."), renamed)?)),
            value => expand_entry(key, value),
        };
        let new_path = format!("{prefix}{key}");
        if expanded.contains_key(&key) {
            return Err(format!("`{path}` and `{new_path}` set the same value; give one of them"));
        }
        if new_path != path {
            renamed(&path, &new_path);
        }
        expanded.insert(key, value);
    }
    Ok(expanded)
}

/// An entry with its duration replaced, or as it is.
pub fn expand_entry(key: String, value: Value) -> (String, Value) {
    match value.as_str().and_then(millis) {
        Some(ms) if key == "window" => (key, json!({ "ms": ms })),
        Some(ms) if !key.ends_with("_ms") => (format!("{key}_ms"), ms.into()),
        _ => (key, value),
    }
}

/// A duration of whole milliseconds; none for any other text.
fn millis(text: &str) -> Option<u64> {
    // M stands for months, and is meant for minutes.
    let duration = humantime::parse_duration(text).ok().filter(|_| !text.contains('M'))?;
    let is_whole = duration.subsec_nanos().is_multiple_of(1_000_000);
    u64::try_from(duration.as_millis()).ok().filter(|_| is_whole)
}
