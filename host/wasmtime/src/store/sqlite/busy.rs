//! Waiting for a file that others hold locked.
//!
//! SQLite's own waiting begins with whole milliseconds and grows; a commit takes a fifth of one. This one looks again
//! soon, and at random moments, so that those who wait do not all come back together.

use std::cell::Cell;
use std::time::{Duration, Instant};

thread_local! {
    static UNTIL: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs something on a connection; where the file is locked it waits for so long at most, over all of it.
pub(super) fn limited<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    struct Restore(Option<Instant>);

    impl Drop for Restore {
        fn drop(&mut self) {
            UNTIL.set(self.0);
        }
    }

    // A limit beyond the end of time is none.
    let until = Instant::now().checked_add(limit).unwrap_or_else(|| Instant::now() + Duration::from_secs(1 << 30));
    let _restore = Restore(UNTIL.replace(Some(until)));
    work()
}

/// SQLite's busy handler: whether to try again. `tries` counts from 0 in each wait.
pub(super) fn handler(tries: i32) -> bool {
    match UNTIL.get() {
        Some(until) if Instant::now() < until => {
            pause(tries.unsigned_abs());
            true
        }
        _ => false,
    }
}

/// Sleeps for a random moment, longer the more tries there were.
pub(super) fn pause(tries: u32) {
    let most = (60u64 << (tries / 16).min(6)).min(4_000);
    std::thread::sleep(Duration::from_micros(fastrand::u64(most / 2..=most)));
}
