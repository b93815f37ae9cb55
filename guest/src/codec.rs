//! The bytes of a record: one byte for the version of the form, the record in postcard's form, and a CRC-32 over both.
//!
//! The first byte and the last four stay where they are in every version, so that each release can tell a damaged record
//! from one of a later release. A release reads every version up to [`NEWEST_READ`] and writes [`WRITTEN`]: a new version
//! is read one release before it is written, so that old and new processes share records during a rolling upgrade.

use alloc::vec::Vec;

use crc::{CRC_32_ISO_HDLC, Crc};

use crate::record::Record;

/// The newest version of the form that this release reads.
pub const NEWEST_READ: u8 = 1;
/// The version of the form that this release writes.
pub const WRITTEN: u8 = 1;

const CHECKSUM: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// Why bytes are not a record that this release can go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecodeError {
    /// They are damaged.
    Corrupt,
    /// A later release wrote them.
    NewerVersion,
}

/// The bytes of a record.
pub fn encode(record: &Record) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    bytes.push(WRITTEN);
    // Writing a record into memory has no way to fail; the empty tail would read back as corrupt, not as another record.
    let mut bytes = postcard::to_extend(record, bytes).unwrap_or_default();
    let checksum = CHECKSUM.checksum(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The record in bytes that [`encode`] gave.
pub fn decode(bytes: &[u8]) -> Result<Record, DecodeError> {
    let (body, checksum) = bytes.split_last_chunk::<4>().ok_or(DecodeError::Corrupt)?;
    if CHECKSUM.checksum(body) != u32::from_le_bytes(*checksum) {
        return Err(DecodeError::Corrupt);
    }
    match body.split_first() {
        Some((&1, record)) => {
            let (record, rest) = postcard::take_from_bytes::<Record>(record).map_err(|_| DecodeError::Corrupt)?;
            if rest.is_empty() && record.is_sound() { Ok(record) } else { Err(DecodeError::Corrupt) }
        }
        Some((version, _)) if *version > NEWEST_READ => Err(DecodeError::NewerVersion),
        _ => Err(DecodeError::Corrupt),
    }
}
