//! The parts of an address that name a setting: text with `%XX`, and lengths of time.

use std::time::Duration;

use percent_encoding::percent_decode_str;

/// The text of a part of an address, in which `%XX` stands for a character that has a meaning in addresses.
///
/// # Errors
/// The part, called `name`, is not UTF-8 or holds a NUL character.
pub fn decode(name: &str, text: &str) -> Result<String, String> {
    let decoded = percent_decode_str(text).decode_utf8().map_err(|_| format!("{name} is not UTF-8"))?;
    if decoded.contains('\0') { Err(format!("{name} holds a NUL character")) } else { Ok(decoded.into_owned()) }
}

/// The time that a parameter gives: `800ms`, `5s` or `5`, from `least` to `most`.
///
/// # Errors
/// The parameter, called `name`, is no such time.
pub fn time(name: &str, value: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    let number = |digits: &str| digits.parse::<u64>().ok();
    let time = match value.strip_suffix("ms") {
        Some(digits) => number(digits).map(Duration::from_millis),
        None => number(value.strip_suffix('s').unwrap_or(value)).map(Duration::from_secs),
    };
    time.filter(|time| (least..=most).contains(time))
        .ok_or_else(|| format!("`{name}` is a time like `800ms` or `5s`, from {least:?} to {most:?}"))
}
