//! JSON objects in which no key is given twice.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Reads a JSON object. `serde_json` itself takes the last of two values of a key.
pub fn parse(text: &str) -> Result<Map<String, Value>, String> {
    let Object { object, repeated } = serde_json::from_str(text).map_err(|error| format!("not JSON: {error}"))?;
    match repeated {
        None => Ok(object),
        Some(key) => Err(format!("`{key}` is given twice")),
    }
}

/// An object, and the first key that is given twice in it.
struct Object {
    object: Map<String, Value>,
    repeated: Option<String>,
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor)
    }
}

struct ObjectVisitor;

impl<'de> Visitor<'de> for ObjectVisitor {
    type Value = Object;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Object, A::Error> {
        let mut object = Map::new();
        let mut repeated = None;
        while let Some((key, raw)) = access.next_entry::<String, Box<RawValue>>()? {
            let value = if raw.get().starts_with('{') {
                let inner: Object = serde_json::from_str(raw.get()).map_err(A::Error::custom)?;
                repeated = repeated.or(inner.repeated.map(|inner| format!("{key}.{inner}")));
                Value::Object(inner.object)
            } else {
                serde_json::from_str(raw.get()).map_err(A::Error::custom)?
            };
            if object.contains_key(&key) {
                repeated = repeated.or(Some(key.clone()));
            }
            object.insert(key, value);
        }
        Ok(Object { object, repeated })
    }
}
