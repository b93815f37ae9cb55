//! The bytes of a record: one byte for the version of the form, the numbers that make up the record (module `form`),
//! and the 64-bit FNV-1a of all that.
//!
//! The first byte and the last eight stay where they are in every version, so that each release can tell a damaged record
//! from one of a later release. A release reads every version up to [`NEWEST_READ`] and writes [`WRITTEN`]: a new version
//! is read one release before it is written, so that old and new processes share records during a rolling upgrade.

use alloc::vec::Vec;
use core::hash::Hasher;

use fnv::FnvHasher;

use crate::form::Form;
use crate::policy;
use crate::record::Record;

/// The newest version of the form that this release reads.
pub const NEWEST_READ: u8 = 1;
/// The version of the form that this release writes.
pub const WRITTEN: u8 = 1;

/// Why bytes are not a record that this release can go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// They are damaged.
    Corrupt,
    /// A later release wrote them.
    NewerVersion,
}

/// The bytes of a record.
#[inline(never)]
pub fn encode(mut record: Record) -> Vec<u8> {
    let mut form = Form::writing(Vec::from([WRITTEN]));
    record.describe(&mut form);
    let mut bytes = form.into_bytes();
    let checksum = checksum(&bytes);
    bytes.extend_from_slice(&checksum);
    bytes
}

/// The record in bytes that [`encode`] gave.
#[inline(never)]
pub fn decode(bytes: &[u8]) -> Result<Record, DecodeError> {
    let (body, last) = bytes.split_last_chunk().ok_or(DecodeError::Corrupt)?;
    if checksum(body) != *last {
        return Err(DecodeError::Corrupt);
    }
    match body.split_first() {
        Some((&1, numbers)) => read(numbers).ok_or(DecodeError::Corrupt),
        Some((version, _)) if *version > NEWEST_READ => Err(DecodeError::NewerVersion),
        _ => Err(DecodeError::Corrupt),
    }
}

/// What a record's bytes end with, over all before it. It guards against damage, not against anyone: a few operations a
/// byte, and no table.
pub fn checksum(body: &[u8]) -> [u8; 8] {
    let mut hasher = FnvHasher::default();
    hasher.write(body);
    hasher.finish().to_le_bytes()
}

fn read(numbers: &[u8]) -> Option<Record> {
    let mut form = Form::reading(numbers);
    let mut record = Record::new(0, &policy::BUILT_IN);
    record.describe(&mut form);
    (form.is_sound() && form.is_at_end()).then_some(record)
}
