//! The bytes of a record: one byte for the version of the form, the record in postcard's form, and the 64-bit FNV-1a of
//! all that.
//!
//! The first byte and the last eight stay where they are in every version, so that each release can tell a damaged record
//! from one of a later release. A release reads every version up to [`NEWEST_READ`] and writes [`WRITTEN`]: a new version
//! is read one release before it is written, so that old and new processes share records during a rolling upgrade.

use alloc::vec::Vec;
use core::hash::Hasher;

use fnv::FnvHasher;

use super::Record;

/// The newest version of the form that this release reads.
pub const NEWEST_READ: u8 = 1;
/// The version of the form that this release writes.
pub const WRITTEN: u8 = 1;

/// Why bytes are not a record that this release can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// They are damaged.
    Corrupt,
    /// A later release wrote them.
    NewerVersion,
}

/// The bytes of a record.
pub fn encode(record: &Record) -> Vec<u8> {
    // Writing to memory fails for no value of this type. If it did, the bytes would be found corrupt.
    let mut bytes = postcard::to_extend(record, Vec::from([WRITTEN])).unwrap_or_default();
    bytes.extend_from_slice(&checksum(&bytes));
    bytes
}

/// The record in bytes that [`encode`] gave.
pub fn decode(bytes: &[u8]) -> Result<Record, DecodeError> {
    let (body, last) = bytes.split_last_chunk().ok_or(DecodeError::Corrupt)?;
    if checksum(body) != *last {
        return Err(DecodeError::Corrupt);
    }
    match body.split_first() {
        Some((&WRITTEN, fields)) => read(fields).ok_or(DecodeError::Corrupt),
        Some((version, _)) if *version > NEWEST_READ => Err(DecodeError::NewerVersion),
        _ => Err(DecodeError::Corrupt),
    }
}

/// The end of a record's bytes, over all before it. It guards against damage, not against forgery: a few operations a
/// byte, and no table.
pub fn checksum(body: &[u8]) -> [u8; 8] {
    let mut hasher = FnvHasher::default();
    hasher.write(body);
    hasher.finish().to_le_bytes()
}

fn read(fields: &[u8]) -> Option<Record> {
    let (record, rest) = postcard::take_from_bytes::<Record>(fields).ok()?;
    (rest.is_empty() && record.is_sound()).then_some(record)
}
