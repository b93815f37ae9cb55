//! Numbers of a policy file, read leniently.
//!
//! A number that no integer type holds (negative, fractional, too large) becomes the largest one. That is out of every
//! range, so the component names the field together with all the others that are wrong, where serde would stop at the
//! first and speak of Rust's types.

use std::fmt;

use serde::de::{Deserializer, Error, Visitor};

struct Lenient;

impl Visitor<'_> for Lenient {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<u64, E> {
        Ok(number)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<u64, E> {
        Ok(u64::try_from(number).unwrap_or(u64::MAX))
    }

    fn visit_u128<E: Error>(self, number: u128) -> Result<u64, E> {
        Ok(u64::try_from(number).unwrap_or(u64::MAX))
    }

    fn visit_i128<E: Error>(self, number: i128) -> Result<u64, E> {
        Ok(u64::try_from(number).unwrap_or(u64::MAX))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<u64, E> {
        // Beyond 2^53 not every integer is a float; nothing in a policy is near it.
        let whole = number.fract() == 0.0 && (0.0..9e15).contains(&number);
        Ok(if whole { number as u64 } else { u64::MAX })
    }
}

pub(super) fn lenient_u64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    deserializer.deserialize_any(Lenient)
}

pub(super) fn lenient_u32<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    lenient_u64(deserializer).map(|number| u32::try_from(number).unwrap_or(u32::MAX))
}
