//! The values of keys: a line of JSON, and for a record its bytes after it.

use halfopen_contract::store::{Place, StoreError};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The format that this release writes, and the latest that it reads.
const FORMAT: u64 = 1;

/// A record without its bytes. The default is that of a record that never was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    pub version: u64,
    /// The writer's clock at the write, in ms since the Unix epoch.
    pub at: u64,
    /// The process that wrote.
    pub by: String,
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
    /// The transitions of the same commit before these, over all its records.
    pub offset: u64,
    pub transitions: Vec<String>,
}

/// The reason for which a value cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// A later release wrote it, in this format.
    Newer(u64),
    /// This program did not write it.
    Damaged,
}

impl Unreadable {
    /// The error for the value of `what`.
    pub fn error(self, place: &Place, what: &str) -> StoreError {
        match self {
            Unreadable::Newer(found) => place.newer(found, FORMAT),
            Unreadable::Damaged => place.corrupt(format!("{what} holds data that this program never wrote")),
        }
    }
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

pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unreadable> {
    #[derive(Deserialize)]
    struct Format {
        format: u64,
    }
    match serde_json::from_slice::<Format>(bytes) {
        Ok(Format { format: FORMAT }) => serde_json::from_slice(bytes).map_err(|_| Unreadable::Damaged),
        Ok(Format { format }) if format > FORMAT => Err(Unreadable::Newer(format)),
        _ => Err(Unreadable::Damaged),
    }
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

pub(crate) fn read_record(value: &[u8]) -> Result<(Header, Option<Vec<u8>>), Unreadable> {
    match value.iter().position(|byte| *byte == b'\n') {
        Some(end) => Ok((read(&value[..end])?, Some(value[end + 1..].to_vec()))),
        None => Ok((read(value)?, None)),
    }
}

#[cfg(test)]
mod tests;
