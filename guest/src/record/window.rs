//! The window of outcomes that failure and slow-call rates are taken of.

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::policy::WindowSpan;

/// The number of buckets of a time window.
const BUCKETS: usize = 10;
/// The most outcomes of a call window.
const MOST_CALLS: u32 = 1_000;

fn bucket_ms(ms: u64) -> u64 {
    (ms / BUCKETS as u64).max(1)
}

/// The way in which an outcome counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// A failure or a timeout.
    pub failed: bool,
    /// It took as long as the policy calls slow.
    pub slow: bool,
}

/// Numbers of outcomes.
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

    fn sum<'c>(all: impl IntoIterator<Item = &'c Counts>) -> Counts {
        let mut sum = Counts::default();
        all.into_iter().for_each(|counts| sum.add(*counts));
        sum
    }

    fn is_sound(&self) -> bool {
        self.failures <= self.calls && self.slow <= self.calls
    }
}

/// The outcomes that count, in the shape of the policy that they were counted under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Window {
    /// The outcomes of the last ten buckets of time.
    Time(TimeWindow),
    /// The last outcomes.
    Calls(CallWindow),
}

impl Window {
    /// An empty window.
    pub fn empty(span: &WindowSpan) -> Window {
        match *span {
            WindowSpan::Ms(ms) => Window::Time(TimeWindow { bucket_ms: bucket_ms(ms), newest: 0, buckets: Vec::new() }),
            WindowSpan::Calls(capacity) => Window::Calls(CallWindow::empty(capacity)),
        }
    }

    /// Whether it has the shape of a policy's span.
    pub fn fits(&self, span: &WindowSpan) -> bool {
        match (self, span) {
            (Window::Time(time), WindowSpan::Ms(ms)) => time.bucket_ms == bucket_ms(*ms),
            (Window::Calls(calls), WindowSpan::Calls(capacity)) => calls.capacity == *capacity,
            _ => false,
        }
    }

    /// Takes the outcomes dated after `now` as dated `now`. Returns whether there were any.
    pub fn correct_clock(&mut self, now: u64) -> bool {
        match self {
            Window::Time(time) => time.correct_clock(now),
            Window::Calls(_) => false,
        }
    }

    /// Drops for good the outcomes that have left the window, then counts `times` more.
    pub fn count(&mut self, now: u64, mark: Mark, times: u64) {
        let of = |marked| if marked { times } else { 0 };
        let counts = Counts { calls: times, failures: of(mark.failed), slow: of(mark.slow) };
        match self {
            Window::Time(time) => time.count(now, counts),
            Window::Calls(calls) => calls.count(mark, times),
        }
    }

    /// The outcomes in the window at `now`.
    pub fn counts(&self, now: u64) -> Counts {
        match self {
            Window::Time(time) => time.counts(now),
            Window::Calls(calls) => calls.counts(),
        }
    }

    /// Whether the functions above can have made it.
    pub(super) fn is_sound(&self) -> bool {
        match self {
            Window::Time(time) => time.is_sound(),
            Window::Calls(calls) => calls.is_sound(),
        }
    }
}

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
    fn correct_clock(&mut self, now: u64) -> bool {
        let current = now / self.bucket_ms;
        if self.newest <= current {
            return false;
        }
        // The buckets after now become one with the bucket of now.
        let later = at_most_all((self.newest - current).saturating_add(1)).min(self.buckets.len());
        if later > 0 {
            let merged = Counts::sum(&self.buckets[..later]);
            self.buckets.splice(..later, [merged]);
        }
        self.newest = current;
        true
    }

    fn count(&mut self, now: u64, counts: Counts) {
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

    fn counts(&self, now: u64) -> Counts {
        let passed = at_most_all((now / self.bucket_ms).saturating_sub(self.newest));
        Counts::sum(self.buckets.iter().take(BUCKETS - passed))
    }

    fn is_sound(&self) -> bool {
        self.bucket_ms > 0 && self.buckets.len() <= BUCKETS && self.buckets.iter().all(Counts::is_sound)
    }
}

fn at_most_all(buckets: u64) -> usize {
    buckets.min(BUCKETS as u64) as usize
}

/// A ring of the last outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallWindow {
    capacity: u32,
    /// The place of the next outcome.
    next: u32,
    held: u32,
    /// Two bits an outcome: failed, slow.
    outcomes: Vec<u64>,
}

/// The outcomes in a word: 62 bits, the most that a record holds in 9 bytes.
const PER_WORD: u32 = 31;
const FAILED: u64 = 0x5555_5555_5555_5555;
const SLOW: u64 = FAILED << 1;

impl CallWindow {
    fn empty(capacity: u32) -> CallWindow {
        CallWindow { capacity, next: 0, held: 0, outcomes: vec![0; words(capacity)] }
    }

    fn count(&mut self, mark: Mark, times: u64) {
        for _ in 0..times.min(u64::from(self.capacity)) {
            let at = 2 * (self.next % PER_WORD);
            if let Some(word) = self.outcomes.get_mut((self.next / PER_WORD) as usize) {
                let outcome = u64::from(mark.failed) | u64::from(mark.slow) << 1;
                *word = *word & !(3 << at) | outcome << at;
            }
            self.next = (self.next + 1) % self.capacity;
            self.held = (self.held + 1).min(self.capacity);
        }
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts { calls: self.held.into(), ..Counts::default() };
        for word in &self.outcomes {
            counts.failures += u64::from((word & FAILED).count_ones());
            counts.slow += u64::from((word & SLOW).count_ones());
        }
        counts
    }

    fn is_sound(&self) -> bool {
        (1..=MOST_CALLS).contains(&self.capacity)
            && self.next < self.capacity
            && self.held <= self.capacity
            && (self.held == self.capacity || self.next == self.held)
            && self.outcomes.len() == words(self.capacity)
            && (0..).zip(&self.outcomes).all(|(at, word)| {
                let held = self.held.saturating_sub(at * PER_WORD).min(PER_WORD);
                word >> (2 * held) == 0
            })
    }
}

fn words(capacity: u32) -> usize {
    capacity.div_ceil(PER_WORD) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::WindowSpan as Span;

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

    #[test]
    fn a_window_that_was_counted_is_sound() {
        for span in [Span::Ms(100), Span::Calls(10), Span::Calls(31), Span::Calls(32), Span::Calls(1_000)] {
            let mut window = Window::empty(&span);
            for now in 0..500 {
                assert!(window.is_sound(), "{span:?} at {now}");
                window.count(now, if now % 3 == 0 { FAILURE } else { SLOW }, 1 + now % 7);
            }
        }
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
            assert!(!Window::Time(bad.clone()).is_sound(), "{bad:?}");
        }
    }

    #[test]
    fn a_call_window_that_was_not_counted_is_unsound() {
        let full = CallWindow { capacity: 32, next: 5, held: 32, outcomes: vec![(1 << 62) - 1, 3] };
        let part = CallWindow { capacity: 32, next: 31, held: 31, outcomes: vec![(1 << 62) - 1, 0] };
        assert!(full.is_sound() && part.is_sound());
        for bad in [
            CallWindow { capacity: 0, next: 0, held: 0, outcomes: vec![] },
            CallWindow { capacity: 1_001, next: 0, held: 0, outcomes: vec![0; 33] },
            CallWindow { next: 32, ..full.clone() },
            CallWindow { held: 33, ..full.clone() },
            CallWindow { next: 30, ..part.clone() },
            CallWindow { outcomes: vec![0], ..full.clone() },
            CallWindow { outcomes: vec![1 << 62, 3], ..full.clone() },
            CallWindow { outcomes: vec![0, 4], ..full.clone() },
            CallWindow { outcomes: vec![0, 1], ..part.clone() },
        ] {
            assert!(!Window::Calls(bad.clone()).is_sound(), "{bad:?}");
        }
    }
}
