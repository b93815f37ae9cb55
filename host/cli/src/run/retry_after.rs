//! The dependency's own word: a file in which the command writes the time that the dependency asks to be left alone.

use std::fs::{self, File, OpenOptions};
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crate::args::duration;

/// The variable that gives the command the path of the file.
pub const VARIABLE: &str = "HALFOPEN_RETRY_AFTER_FILE";

/// The file; it is removed when this is dropped.
pub struct RetryAfterFile(PathBuf);

impl RetryAfterFile {
    /// Makes an empty file that only this user can read; none where the folder for temporary files takes none.
    pub fn new() -> Option<RetryAfterFile> {
        let path = std::env::temp_dir().join(format!("halfopen-retry-after-{:016x}", fastrand::u64(..)));
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).ok()?;
        Some(RetryAfterFile(path))
    }

    /// Its path; none where that is not UTF-8.
    pub fn path(&self) -> Option<String> {
        self.0.to_str().map(str::to_owned)
    }

    /// The time in the file; none where the command has written nothing. An error says what is wrong with the text.
    pub fn read(&self) -> Option<Result<Duration, String>> {
        let mut text = String::new();
        // A header is short.
        File::open(&self.0).ok()?.take(256).read_to_string(&mut text).ok()?;
        let text = text.trim();
        (!text.is_empty()).then(|| time(text))
    }
}

impl Drop for RetryAfterFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Reads a length of time: as in the HTTP header Retry-After (seconds, or a date), or with units.
fn time(text: &str) -> Result<Duration, String> {
    if let Ok(seconds) = text.parse() {
        return Ok(Duration::from_secs(seconds));
    }
    match httpdate::parse_http_date(text) {
        Ok(date) => Ok(date.duration_since(SystemTime::now()).unwrap_or_default()),
        Err(_) => duration(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_seconds_a_date_or_a_length_with_units() {
        assert_eq!(time("120"), Ok(Duration::from_secs(120)));
        assert_eq!(time("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(time("Wed, 21 Oct 2015 07:28:00 GMT"), Ok(Duration::ZERO), "it is over");
        let later = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(60));
        assert!(time(&later).unwrap() > Duration::from_secs(50));
        assert!(time("soon").is_err() && time("-5").is_err());
    }
}
