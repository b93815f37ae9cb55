//! Waiting for a file that another process holds locked.
//!
//! SQLite's own waiting begins with whole milliseconds and grows; a commit takes a fifth of one. This one retries soon, and
//! at random moments, so that waiting processes do not all retry at once.

use std::cell::Cell;
use std::time::{Duration, Instant};

thread_local! {
    static UNTIL: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs work on a connection that waits for locked files for at most the given time, over all of it.
pub(crate) fn limited<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    // A limit beyond the last instant is none.
    let until = Instant::now().checked_add(limit).unwrap_or_else(|| Instant::now() + Duration::from_secs(1 << 30));
    UNTIL.set(Some(until));
    let result = work();
    UNTIL.set(None);
    result
}

/// SQLite's busy handler: whether to try again. `tries` counts from 0 in each wait.
pub(crate) fn handler(tries: i32) -> bool {
    match UNTIL.get() {
        Some(until) if Instant::now() < until => {
            pause(tries.unsigned_abs());
            true
        }
        _ => false,
    }
}

/// Sleeps for a random moment, longer after more tries.
pub(crate) fn pause(tries: u32) {
    let most = (60u64 << (tries / 16).min(6)).min(4_000);
    std::thread::sleep(Duration::from_micros(fastrand::u64(most / 2..=most)));
}

#[cfg(test)]
mod tests;
