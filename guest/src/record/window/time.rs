//! A window of the last outcomes in time.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::counts::Counts;

/// The number of buckets of a time window.
const BUCKETS: usize = 10;

/// Ten buckets of time; the number of the bucket of an instant is the instant divided by the length of a bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeWindow {
    bucket_ms: u64,
    /// The number of the newest bucket.
    newest: u64,
    /// From the newest to the oldest that is not empty.
    buckets: Vec<Counts>,
}

impl TimeWindow {
    /// An empty window of this length.
    pub(super) fn empty(ms: u64) -> TimeWindow {
        TimeWindow { bucket_ms: bucket_ms(ms), newest: 0, buckets: Vec::new() }
    }

    /// Whether it has the buckets of a window of this length.
    pub(super) fn fits(&self, ms: u64) -> bool {
        self.bucket_ms == bucket_ms(ms)
    }

    pub(super) fn correct_clock(&mut self, now: u64) -> bool {
        let current = now / self.bucket_ms;
        if self.newest <= current {
            return false;
        }
        // The buckets after now become one with the bucket of now.
        let later = at_most_all((self.newest - current).saturating_add(1)).min(self.buckets.len());
        let merged = Counts::sum(&self.buckets[..later]);
        self.buckets.splice(..later, [merged]);
        self.newest = current;
        true
    }

    pub(super) fn count(&mut self, now: u64, counts: Counts) {
        let current = now / self.bucket_ms;
        let passed = at_most_all(current.saturating_sub(self.newest));
        self.buckets.splice(..0, core::iter::repeat_n(Counts::default(), passed));
        self.buckets.truncate(BUCKETS);
        self.newest = current;
        match self.buckets.first_mut() {
            Some(bucket) => bucket.add(counts),
            None => self.buckets.push(counts),
        }
        let oldest = self.buckets.iter().rposition(|bucket| *bucket != Counts::default());
        self.buckets.truncate(oldest.map_or(0, |oldest| oldest + 1));
    }

    pub(super) fn counts(&self, now: u64) -> Counts {
        let passed = at_most_all((now / self.bucket_ms).saturating_sub(self.newest));
        Counts::sum(self.buckets.iter().take(BUCKETS - passed))
    }

    pub(super) fn is_sound(&self) -> bool {
        self.bucket_ms > 0 && self.buckets.len() <= BUCKETS && self.buckets.iter().all(Counts::is_sound)
    }
}

fn at_most_all(buckets: u64) -> usize {
    buckets.min(BUCKETS as u64) as usize
}

fn bucket_ms(ms: u64) -> u64 {
    (ms / BUCKETS as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn counts(calls: u64, failures: u64, slow: u64) -> Counts {
        Counts { calls, failures, slow }
    }

    #[test]
    fn a_time_window_that_was_not_counted_is_unsound() {
        let good = TimeWindow { bucket_ms: 10, newest: 7, buckets: vec![counts(2, 2, 2); 10] };
        assert!(good.is_sound());
        for bad in [
            TimeWindow { bucket_ms: 0, ..good.clone() },
            TimeWindow { buckets: vec![counts(2, 2, 2); 11], ..good.clone() },
            TimeWindow { buckets: vec![counts(2, 3, 2)], ..good.clone() },
            TimeWindow { buckets: vec![counts(2, 2, 3)], ..good.clone() },
        ] {
            assert!(!bad.is_sound(), "{bad:?}");
        }
    }
}
