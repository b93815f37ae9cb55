//! Durations in policies: `open = "15m"` stands for `open_ms = 900000`, and `window = "30s"` for `window = { ms = 30000 }`.

use serde_json::{Map, Value, json};

/// Replaces durations, in tables too.
pub fn expand(object: Map<String, Value>) -> Result<Map<String, Value>, String> {
    let mut expanded = Map::new();
    for (key, value) in object {
        let (key, value) = match (value.as_str().and_then(millis), value) {
            (_, Value::Object(table)) => (key, Value::Object(expand(table)?)),
            (Some(ms), _) if key == "window" => (key, json!({ "ms": ms })),
            (Some(ms), _) if !key.ends_with("_ms") => (format!("{key}_ms"), ms.into()),
            (_, value) => (key, value),
        };
        if expanded.contains_key(&key) {
            return Err(format!("`{}` and `{key}` set the same value; give one of them", key.trim_end_matches("_ms")));
        }
        expanded.insert(key, value);
    }
    Ok(expanded)
}

/// A duration of whole milliseconds; none for any other text.
fn millis(text: &str) -> Option<u64> {
    // M stands for months, and is meant for minutes.
    let duration = humantime::parse_duration(text).ok().filter(|_| !text.contains('M'))?;
    let is_whole = duration.subsec_nanos().is_multiple_of(1_000_000);
    u64::try_from(duration.as_millis()).ok().filter(|_| is_whole)
}
