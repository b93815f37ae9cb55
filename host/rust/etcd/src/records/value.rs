//! The values of keys: a line of JSON, and for a record its bytes after it.

use halfopen_contract::store::{Place, StoreError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::client::messages::KeyValue;

/// The format that this release writes, and the latest that it reads.
const FORMAT: u64 = 1;

/// A record without its bytes. The default is that of a record that never was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub namespace: String,
    pub dependency: String,
    pub version: u64,
    /// The writer's clock at the write, in ms since the Unix epoch.
    pub at: u64,
    /// The id of the commit that wrote.
    pub commit: String,
    /// The number of transitions since the record was made.
    pub counted: u64,
    /// The number of the first transition that is kept.
    pub first: u64,
}

/// The version of the missing records of a namespace that have no key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Floor {
    pub version: u64,
}

/// The transitions that one commit adds to a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Chunk {
    pub dependency: String,
    /// The number after the last transition in the record's history; 0 where they are in none.
    pub end: u64,
    /// The transitions of the same commit before these, over all its records.
    pub offset: u64,
    pub transitions: Vec<String>,
}

pub(crate) fn write<T: Serialize>(content: &T) -> Vec<u8> {
    #[derive(Serialize)]
    struct Formatted<'a, T> {
        format: u64,
        #[serde(flatten)]
        content: &'a T,
    }
    // These types have string keys and finite numbers, so this cannot fail; an empty value would read as damaged.
    serde_json::to_vec(&Formatted { format: FORMAT, content }).unwrap_or_default()
}

/// Reads a value without bytes; `key` is its key.
pub(crate) fn read<T: DeserializeOwned>(place: &Place, key: &[u8], value: &[u8]) -> Result<T, StoreError> {
    #[derive(Deserialize)]
    struct Format {
        format: u64,
    }
    let content = match serde_json::from_slice::<Format>(value) {
        Ok(Format { format: FORMAT }) => serde_json::from_slice(value).ok(),
        Ok(Format { format }) if format > FORMAT => return Err(place.newer(format, FORMAT)),
        _ => None,
    };
    content.ok_or_else(|| {
        let key = String::from_utf8_lossy(key);
        place.corrupt(format!("the key {key:?} holds data that this program never wrote"))
    })
}

/// The value of a record; one without data is removed.
pub(crate) fn write_record(header: &Header, data: Option<&[u8]>) -> Vec<u8> {
    let mut value = write(header);
    if let Some(data) = data {
        value.push(b'\n');
        value.extend_from_slice(data);
    }
    value
}

pub(crate) fn read_record(place: &Place, kv: &KeyValue) -> Result<(Header, Option<Vec<u8>>), StoreError> {
    let (header, data) = match kv.value.0.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&kv.value.0[..end], Some(kv.value.0[end + 1..].to_vec())),
        None => (kv.value.0.as_slice(), None),
    };
    Ok((read(place, &kv.key.0, header)?, data))
}

#[cfg(test)]
mod tests;
