//! Lengths of time, instants and strings of callers, as text for a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

/// A length of time: "850ms", "4.2s", "3m 20s", "2h 5m", "3d 4h". Only zero is shown as zero.
pub fn duration(length: Duration) -> String {
    let ms = length.as_millis();
    let seconds = length.as_secs();
    match ms {
        0 if !length.is_zero() => "1ms".to_owned(),
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => {
            let tenths = ms / 100;
            if tenths.is_multiple_of(10) {
                format!("{}s", tenths / 10)
            } else {
                format!("{}.{}s", tenths / 10, tenths % 10)
            }
        }
        60_000..3_600_000 => pair(seconds / 60, "m", seconds % 60, "s"),
        3_600_000..86_400_000 => pair(seconds / 3_600, "h", seconds % 3_600 / 60, "m"),
        _ => pair(seconds / 86_400, "d", seconds % 86_400 / 3_600, "h"),
    }
}

fn pair(large: u64, large_unit: &str, small: u64, small_unit: &str) -> String {
    if small == 0 { format!("{large}{large_unit}") } else { format!("{large}{large_unit} {small}{small_unit}") }
}

/// An instant in milliseconds since the Unix epoch, as UTC: "2025-01-31T08:15:00.250Z".
pub fn instant(ms: u64) -> String {
    // Beyond the year 9999 there is no such form.
    const LAST: u64 = 253_402_300_799_999;
    if ms > LAST {
        return format!("{ms}ms since 1970");
    }
    humantime::format_rfc3339_millis(SystemTime::UNIX_EPOCH + Duration::from_millis(ms)).to_string()
}

/// An instant to the second, and its distance: "03:12:07 UTC (12m ago)", "2025-01-30 04:00:00 UTC (in 2h)".
pub fn when(ms: u64, now: u64) -> String {
    let (shown, today) = (instant(ms), instant(now));
    let day = shown.get(..10).filter(|day| !today.starts_with(*day)).map(|day| format!("{day} "));
    let time = shown.get(11..19).unwrap_or(&shown);
    let distance = duration(Duration::from_millis(now.abs_diff(ms)));
    let distance = if ms > now { format!("in {distance}") } else { format!("{distance} ago") };
    format!("{}{time} UTC ({distance})", day.unwrap_or_default())
}

/// The present instant, in milliseconds since the Unix epoch.
pub fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Whether a terminal may act on the character: a control, an invisible character, or one that changes the direction of
/// writing.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// A string of a caller as one line without a character that a terminal acts on.
pub fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_dangerous) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if is_dangerous(c) {
            safe.extend(c.escape_default());
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// The first 100 characters of a string that has more.
pub fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(100) {
        Some((end, _)) => Cow::Owned(format!("{}...", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// JSON on one line without a character that a terminal acts on.
pub fn json(value: &impl serde::Serialize) -> anyhow::Result<String> {
    let plain = serde_json::to_string(value)?;
    if !plain.contains(is_dangerous) {
        return Ok(plain);
    }
    // These characters can only stand inside strings, where JSON allows the escaped form.
    let mut safe = String::with_capacity(plain.len() + 16);
    for c in plain.chars() {
        if is_dangerous(c) {
            write!(safe, "\\u{:04x}", u32::from(c))?;
        } else {
            safe.push(c);
        }
    }
    Ok(safe)
}

#[cfg(test)]
mod tests;
