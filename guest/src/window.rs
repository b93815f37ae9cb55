//! The window of outcomes that failure and slow-call rates are taken of.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::bindings::halfopen::breaker::types::Window as Span;

/// A time window has so many buckets.
const BUCKETS: u64 = 10;

/// What one outcome counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// A failure or a timeout.
    pub failed: bool,
    /// It took as long as the policy calls slow.
    pub slow: bool,
}

/// What a window holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// All calls.
    pub calls: u64,
    /// Failures and timeouts.
    pub failures: u64,
    /// Slow calls, failed or not.
    pub slow: u64,
}

impl Counts {
    fn add(&mut self, other: Counts) {
        self.calls = self.calls.saturating_add(other.calls);
        self.failures = self.failures.saturating_add(other.failures);
        self.slow = self.slow.saturating_add(other.slow);
    }
}

/// The outcomes that count, in the shape of the policy that they were counted under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Window {
    /// The outcomes of the last ten buckets of time.
    Time(TimeWindow),
    /// The last so many outcomes.
    Calls(CallWindow),
}

impl Window {
    /// An empty window.
    pub fn empty(span: &Span) -> Window {
        match *span {
            Span::Ms(ms) => {
                Window::Time(TimeWindow { bucket_ms: (ms / BUCKETS).max(1), newest: 0, buckets: Vec::new() })
            }
            Span::Calls(capacity) => Window::Calls(CallWindow {
                capacity: capacity.max(1),
                next: 0,
                held: 0,
                failed: Vec::new(),
                slow: Vec::new(),
            }),
        }
    }

    /// Whether it has the shape that a policy asks for.
    pub fn fits(&self, span: &Span) -> bool {
        match (self, span) {
            (Window::Time(time), Span::Ms(ms)) => time.bucket_ms == (ms / BUCKETS).max(1),
            (Window::Calls(calls), Span::Calls(capacity)) => calls.capacity == *capacity,
            _ => false,
        }
    }

    /// Whether its parts fit together; false for a record that nothing of ours wrote.
    pub fn is_sound(&self) -> bool {
        match self {
            Window::Time(time) => time.bucket_ms > 0 && time.buckets.len() as u64 <= BUCKETS,
            Window::Calls(calls) => calls.is_sound(),
        }
    }

    /// Takes what is dated after `now` as dated `now`. Returns whether anything was.
    pub fn correct_clock(&mut self, now: u64) -> bool {
        match self {
            Window::Time(time) => time.correct_clock(now),
            Window::Calls(_) => false,
        }
    }

    /// Drops for good what has left the window, then counts `times` outcomes.
    pub fn count(&mut self, now: u64, mark: Mark, times: u64) {
        match self {
            Window::Time(time) => time.count(now, mark, times),
            Window::Calls(calls) => calls.count(mark, times),
        }
    }

    /// What is in the window at `now`.
    pub fn counts(&self, now: u64) -> Counts {
        match self {
            Window::Time(time) => time.counts(now),
            Window::Calls(calls) => calls.counts(),
        }
    }
}

/// Ten buckets of time; the bucket of an instant is the instant divided by the length of a bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimeWindow {
    bucket_ms: u64,
    /// The number of the first bucket below.
    newest: u64,
    /// By age, the newest first; without the empty ones at the end.
    buckets: Vec<Counts>,
}

impl TimeWindow {
    fn correct_clock(&mut self, now: u64) -> bool {
        let current = now / self.bucket_ms;
        if self.newest <= current || self.buckets.is_empty() {
            return false;
        }
        let ahead = usize::try_from(self.newest - current).unwrap_or(usize::MAX);
        let mut merged = Counts::default();
        let older = self.buckets.split_off(ahead.saturating_add(1).min(self.buckets.len()));
        self.buckets.drain(..).for_each(|bucket| merged.add(bucket));
        self.buckets.push(merged);
        self.buckets.extend(older);
        self.newest = current;
        true
    }

    fn count(&mut self, now: u64, mark: Mark, times: u64) {
        let current = now / self.bucket_ms;
        let passed = current.saturating_sub(self.newest).min(BUCKETS) as usize;
        if self.buckets.is_empty() || passed as u64 == BUCKETS {
            self.buckets.clear();
            self.buckets.push(Counts::default());
        } else {
            self.buckets.splice(0..0, core::iter::repeat_n(Counts::default(), passed));
            self.buckets.truncate(BUCKETS as usize);
        }
        while self.buckets.len() > 1 && self.buckets.last() == Some(&Counts::default()) {
            self.buckets.pop();
        }
        self.newest = current;
        self.buckets[0].add(Counts {
            calls: times,
            failures: if mark.failed { times } else { 0 },
            slow: if mark.slow { times } else { 0 },
        });
    }

    fn counts(&self, now: u64) -> Counts {
        let aged = (now / self.bucket_ms).saturating_sub(self.newest).min(BUCKETS);
        let mut counts = Counts::default();
        self.buckets.iter().take((BUCKETS - aged) as usize).for_each(|bucket| counts.add(*bucket));
        counts
    }
}

/// A ring of the last outcomes, two bits each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallWindow {
    capacity: u32,
    /// Where the next outcome goes.
    next: u32,
    held: u32,
    failed: Vec<u8>,
    slow: Vec<u8>,
}

impl CallWindow {
    fn is_sound(&self) -> bool {
        let bytes = (self.capacity as usize).div_ceil(8);
        (1..=1_000).contains(&self.capacity)
            && self.next < self.capacity
            && self.held <= self.capacity
            && self.failed.len() <= bytes
            && self.slow.len() <= bytes
    }

    fn count(&mut self, mark: Mark, times: u64) {
        for _ in 0..times.min(u64::from(self.capacity)) {
            set_bit(&mut self.failed, self.next, mark.failed);
            set_bit(&mut self.slow, self.next, mark.slow);
            self.next = (self.next + 1) % self.capacity;
            self.held = (self.held + 1).min(self.capacity);
        }
    }

    fn counts(&self) -> Counts {
        let ones = |bits: &[u8]| bits.iter().map(|byte| u64::from(byte.count_ones())).sum();
        Counts { calls: u64::from(self.held), failures: ones(&self.failed), slow: ones(&self.slow) }
    }
}

/// Sets a bit; the bytes grow with the first one that is not zero, so that a healthy window takes no room.
fn set_bit(bytes: &mut Vec<u8>, at: u32, value: bool) {
    let (byte, bit) = (at as usize / 8, at % 8);
    if byte >= bytes.len() {
        if !value {
            return;
        }
        bytes.resize(byte + 1, 0);
    }
    bytes[byte] = bytes[byte] & !(1 << bit) | u8::from(value) << bit;
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILURE: Mark = Mark { failed: true, slow: false };
    const SUCCESS: Mark = Mark { failed: false, slow: false };
    const SLOW: Mark = Mark { failed: false, slow: true };

    fn counts(calls: u64, failures: u64, slow: u64) -> Counts {
        Counts { calls, failures, slow }
    }

    #[test]
    fn an_outcome_leaves_a_time_window_ten_buckets_later() {
        let mut window = Window::empty(&Span::Ms(100));
        window.count(5, FAILURE, 3);
        assert_eq!(window.counts(99), counts(3, 3, 0));
        assert_eq!(window.counts(100), counts(0, 0, 0));
    }

    #[test]
    fn only_counting_drops_what_has_left_the_window() {
        let mut window = Window::empty(&Span::Ms(100));
        window.count(5, FAILURE, 3);
        assert_eq!(window.counts(1_000), counts(0, 0, 0));
        assert_eq!(window.counts(50), counts(3, 3, 0), "looking at a later time drops nothing");
        window.count(100, SUCCESS, 1);
        window.correct_clock(50);
        assert_eq!(window.counts(50), counts(1, 0, 0), "a count at a later time does");
    }

    #[test]
    fn buckets_after_now_are_taken_as_now() {
        let mut window = Window::empty(&Span::Ms(100));
        for now in [900, 950, 990] {
            window.count(now, FAILURE, 1);
        }
        assert!(window.correct_clock(945));
        assert!(!window.correct_clock(945));
        assert_eq!(window.counts(945), counts(3, 3, 0));
        assert_eq!(window.counts(999), counts(3, 3, 0), "the bucket of 900 is still the oldest");
        assert_eq!(window.counts(1_000), counts(2, 2, 0));
        assert_eq!(window.counts(1_039), counts(2, 2, 0));
        assert_eq!(window.counts(1_040), counts(0, 0, 0));
    }

    #[test]
    fn a_far_step_back_keeps_every_outcome_for_one_window() {
        let mut window = Window::empty(&Span::Ms(100));
        (0..10).for_each(|bucket| window.count(1_000_000 + bucket * 10, FAILURE, 1));
        assert!(window.correct_clock(7));
        assert_eq!(window.counts(99), counts(10, 10, 0));
        assert_eq!(window.counts(100), counts(0, 0, 0));
    }

    #[test]
    fn a_call_window_holds_the_last_outcomes() {
        let mut window = Window::empty(&Span::Calls(10));
        window.count(0, FAILURE, 8);
        window.count(0, SLOW, 1);
        assert_eq!(window.counts(0), counts(9, 8, 1));
        window.count(0, SUCCESS, 4);
        assert_eq!(window.counts(u64::MAX), counts(10, 5, 1));
        window.count(0, SUCCESS, u64::MAX);
        assert_eq!(window.counts(0), counts(10, 0, 0));
    }

    #[test]
    fn a_window_of_another_shape_does_not_fit() {
        assert!(Window::empty(&Span::Ms(100)).fits(&Span::Ms(100)));
        assert!(!Window::empty(&Span::Ms(100)).fits(&Span::Ms(200)));
        assert!(!Window::empty(&Span::Ms(100)).fits(&Span::Calls(100)));
        assert!(!Window::empty(&Span::Calls(10)).fits(&Span::Calls(11)));
    }
}
