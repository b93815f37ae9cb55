//! The bytes of a record: one byte for the version of the form, the record in postcard's form, and a CRC-32 over both.
//!
//! The first byte and the last four stay where they are in every version, so that each release can tell a damaged record
//! from one of a later release. A release reads every version up to [`NEWEST_READ`] and writes [`WRITTEN`]: a new version
//! is read one release before it is written, so that old and new processes share records during a rolling upgrade.

use alloc::vec::Vec;

use crc::{CRC_32_ISO_HDLC, Crc};
use postcard::ser_flavors::Flavor;

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
#[inline(never)]
pub fn encode(record: &Record) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(256);
    bytes.push(WRITTEN);
    // Writing into memory has no way to fail; if it had, the empty record would read back as corrupt, not as another.
    let mut bytes = postcard::serialize_with_flavor(record, Bytes(bytes)).unwrap_or_default();
    let checksum = checksum(&bytes);
    bytes.extend_from_slice(&checksum);
    bytes
}

/// The last four bytes of a record, over all the others.
pub fn checksum(body: &[u8]) -> [u8; 4] {
    CHECKSUM.checksum(body).to_le_bytes()
}

/// The record in bytes that [`encode`] gave.
#[inline(never)]
pub fn decode(bytes: &[u8]) -> Result<Record, DecodeError> {
    let (body, last) = bytes.split_last_chunk::<4>().ok_or(DecodeError::Corrupt)?;
    if checksum(body) != *last {
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

/// Where postcard writes to. Its functions are not inlined into each of the many fields: that halves their code.
struct Bytes(Vec<u8>);

impl Flavor for Bytes {
    type Output = Vec<u8>;

    #[inline(never)]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline(never)]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}
