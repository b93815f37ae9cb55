//! What is kept under a key: a line of JSON, and for a record its bytes after it.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::wire::Transition;

/// The format that this release writes.
const FORMAT: u64 = 1;

/// How many transitions a key holds at most.
pub(super) const CHUNK: u64 = 64;

/// What is known of a record besides its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub version: u64,
    /// The writer's clock when it wrote, in ms since the Unix epoch.
    pub at: u64,
    /// Who wrote.
    pub by: String,
    /// Which commit wrote it.
    pub commit: String,
    /// How many transitions it has had since it was made.
    pub counted: u64,
    /// The number of the first transition that is kept.
    pub first: u64,
}

/// What a namespace keeps of the records it no longer has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Floor {
    /// The version of whatever has no record: at least the highest ever given for it.
    pub version: u64,
    /// Which commit wrote it.
    pub commit: String,
}

/// Some transitions of one commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Chunk {
    /// How many transitions of the same commit come before these, over all its records.
    pub offset: u64,
    pub transitions: Vec<Transition>,
}

/// Why a value cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It was written by a later release, in this format.
    Newer(u64),
    /// It is none of ours.
    Damaged,
}

/// The latest format that this release reads.
pub(super) const KNOWN: u64 = FORMAT;

#[derive(Serialize, Deserialize)]
struct Formatted<T> {
    format: u64,
    #[serde(flatten)]
    content: T,
}

pub(super) fn write<T: Serialize>(content: &T) -> Vec<u8> {
    // These types have string keys and finite numbers, so this cannot fail; and an empty value would read as damaged.
    serde_json::to_vec(&Formatted { format: FORMAT, content }).unwrap_or_default()
}

pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unreadable> {
    #[derive(Deserialize)]
    struct Format {
        format: u64,
    }
    match serde_json::from_slice::<Format>(bytes) {
        Ok(Format { format: FORMAT }) => {}
        Ok(Format { format }) if format > FORMAT => return Err(Unreadable::Newer(format)),
        _ => return Err(Unreadable::Damaged),
    }
    serde_json::from_slice::<Formatted<T>>(bytes).map(|value| value.content).map_err(|_| Unreadable::Damaged)
}

pub(super) fn write_record(head: &Head, data: &[u8]) -> Vec<u8> {
    let mut value = write(head);
    value.push(b'\n');
    value.extend_from_slice(data);
    value
}

pub(super) fn read_record(value: &[u8]) -> Result<(Head, Vec<u8>), Unreadable> {
    let end = value.iter().position(|byte| *byte == b'\n').ok_or(Unreadable::Damaged)?;
    let (head, data) = value.split_at(end);
    Ok((read(head)?, data.iter().skip(1).copied().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head { version: u64::MAX, at: 7, by: "a\n\"b\"".to_owned(), commit: "c".to_owned(), counted: 9, first: 2 }
    }

    #[test]
    fn a_record_is_read_back_whatever_its_bytes() {
        for data in [&b""[..], b"\n", b"{}\n\0\xff"] {
            assert_eq!(read_record(&write_record(&head(), data)), Ok((head(), data.to_vec())));
        }
    }

    #[test]
    fn a_later_format_and_damage_are_told_apart() {
        assert_eq!(read::<Floor>(br#"{"format":2,"levels":[]}"#), Err(Unreadable::Newer(2)));
        for damaged in [&b""[..], b"{}", b"x", br#"{"format":0}"#, br#"{"format":1}"#, b"\xff\n"] {
            assert_eq!(read::<Floor>(damaged), Err(Unreadable::Damaged));
            assert_eq!(read_record(damaged), Err(Unreadable::Damaged));
        }
    }
}
