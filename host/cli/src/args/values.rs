//! Values of options.

use std::ops::RangeInclusive;
use std::time::Duration;

/// Reads a length of time.
pub fn duration(text: &str) -> Result<Duration, String> {
    if text.contains('M') {
        return Err("M stands for months; write minutes as m: 10m".to_owned());
    }
    match humantime::parse_duration(text) {
        Ok(length) if length < Duration::from_millis(1) => Err("it must be at least 1ms".to_owned()),
        // Far beyond every limit, and small enough for any clock.
        Ok(length) if length > Duration::from_secs(100 * 365 * 86_400) => Err("it is too long".to_owned()),
        Ok(length) => Ok(length),
        Err(error) => Err(format!("{error}; write it like 500ms, 30s or 1m 30s")),
    }
}

/// Reads an exit status, or a range of exit statuses.
pub fn statuses(text: &str) -> Result<RangeInclusive<u8>, String> {
    let number = |text: &str| {
        let number: Option<u8> = text.trim().parse().ok();
        number.filter(|number| *number > 0).ok_or_else(|| "an exit status is a number from 1 to 255".to_owned())
    };
    let range = match text.split_once('-') {
        None => number(text)?..=number(text)?,
        Some((low, high)) => number(low)?..=number(high)?,
    };
    if range.is_empty() { Err("the range ends before it begins".to_owned()) } else { Ok(range) }
}
