//! The window of outcomes that failure and slow-call rates are taken of.

use alloc::vec;
use alloc::vec::Vec;
use core::mem;

use crate::contract::Window as Span;
use crate::form::Form;

/// A time window has so many buckets.
const BUCKETS: usize = 10;
/// A call window holds at most so many outcomes.
const MOST_CALLS: u32 = 1_000;

fn bucket_ms(ms: u64) -> u64 {
    (ms / BUCKETS as u64).max(1)
}

/// What one outcome counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// A failure or a timeout.
    pub failed: bool,
    /// It took as long as the policy calls slow.
    pub slow: bool,
}

/// What a window holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// All calls.
    pub calls: u64,
    /// Failures and timeouts.
    pub failures: u64,
    /// Slow calls, failed or not.
    pub slow: u64,
}

impl Counts {
    const NONE: Counts = Counts { calls: 0, failures: 0, slow: 0 };

    #[inline(never)]
    fn add(&mut self, other: Counts) {
        self.calls = self.calls.saturating_add(other.calls);
        self.failures = self.failures.saturating_add(other.failures);
        self.slow = self.slow.saturating_add(other.slow);
    }
}

/// The outcomes that count, in the shape of the policy that they were counted under.
#[allow(clippy::large_enum_variant, reason = "one of them is in use at a time; a box would cost more than it saves")]
#[derive(Clone, Debug, PartialEq, Eq)]
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
                Window::Time(TimeWindow { bucket_ms: bucket_ms(ms), newest: 0, buckets: [Counts::NONE; BUCKETS] })
            }
            Span::Calls(capacity) => Window::Calls(CallWindow::empty(capacity)),
        }
    }

    /// Whether it has the shape that a policy asks for.
    pub fn fits(&self, span: &Span) -> bool {
        match (self, span) {
            (Window::Time(time), Span::Ms(ms)) => time.bucket_ms == bucket_ms(*ms),
            (Window::Calls(calls), Span::Calls(capacity)) => calls.capacity == *capacity,
            _ => false,
        }
    }

    /// The numbers that make it up.
    pub fn describe(&mut self, form: &mut Form) {
        let counts_calls = form.flag(matches!(self, Window::Calls(_)));
        if form.reads() {
            *self = Window::empty(&if counts_calls { Span::Calls(1) } else { Span::Ms(1) });
        }
        match self {
            Window::Time(time) => time.describe(form),
            Window::Calls(calls) => calls.describe(form),
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
        let of = |marked| if marked { times } else { 0 };
        let counts = Counts { calls: times, failures: of(mark.failed), slow: of(mark.slow) };
        match self {
            Window::Time(time) => time.count(now, counts),
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeWindow {
    bucket_ms: u64,
    /// The number of the newest bucket.
    newest: u64,
    /// Each bucket at its number modulo ten.
    buckets: [Counts; BUCKETS],
}

impl TimeWindow {
    fn correct_clock(&mut self, now: u64) -> bool {
        let current = now / self.bucket_ms;
        let newest = self.newest;
        if newest <= current {
            return false;
        }
        let mut later = Counts::NONE;
        for back in 0..at_most_all(newest - current) {
            later.add(mem::replace(&mut self.buckets[place(newest, back)], Counts::NONE));
        }
        self.buckets[place(current, 0)].add(later);
        self.newest = current;
        true
    }

    fn count(&mut self, now: u64, counts: Counts) {
        let current = now / self.bucket_ms;
        for back in 0..at_most_all(current.saturating_sub(self.newest)) {
            self.buckets[place(current, back)] = Counts::NONE;
        }
        self.newest = current;
        self.buckets[place(current, 0)].add(counts);
    }

    fn counts(&self, now: u64) -> Counts {
        let aged = at_most_all((now / self.bucket_ms).saturating_sub(self.newest));
        let mut counts = Counts::NONE;
        for back in 0..BUCKETS - aged {
            counts.add(self.buckets[place(self.newest, back)]);
        }
        counts
    }

    /// The numbers that make it up: the buckets from the newest to the oldest that is not empty.
    fn describe(&mut self, form: &mut Form) {
        form.number(&mut self.bucket_ms);
        form.demand(self.bucket_ms > 0);
        form.number(&mut self.newest);
        let newest = self.newest;
        let held =
            (0..BUCKETS).rfind(|back| self.buckets[place(newest, *back)] != Counts::NONE).map_or(0, |back| back + 1);
        for back in 0..form.at_most(BUCKETS as u32, held as u32) as usize {
            let bucket = &mut self.buckets[place(newest, back)];
            form.number(&mut bucket.calls);
            form.number(&mut bucket.failures);
            form.number(&mut bucket.slow);
        }
    }
}

/// Where the bucket is that is so many before another.
fn place(number: u64, back: usize) -> usize {
    ((number % BUCKETS as u64) as usize + BUCKETS - back % BUCKETS) % BUCKETS
}

fn at_most_all(buckets: u64) -> usize {
    buckets.min(BUCKETS as u64) as usize
}

/// A ring of the last outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallWindow {
    capacity: u32,
    /// Where the next outcome goes.
    next: u32,
    held: u32,
    /// Two bits an outcome: failed, slow.
    outcomes: Vec<u64>,
}

/// So many outcomes go into 63 bits, the most that a record holds in 9 bytes.
const A_WORD: u32 = 31;
const FAILED: u64 = 0x5555_5555_5555_5555;
const SLOW: u64 = FAILED << 1;

impl CallWindow {
    fn empty(capacity: u32) -> CallWindow {
        CallWindow { capacity, next: 0, held: 0, outcomes: vec![0; capacity.div_ceil(A_WORD) as usize] }
    }

    fn count(&mut self, mark: Mark, times: u64) {
        for _ in 0..times.min(u64::from(self.capacity)) {
            let at = 2 * (self.next % A_WORD);
            if let Some(word) = self.outcomes.get_mut((self.next / A_WORD) as usize) {
                let outcome = u64::from(mark.failed) | u64::from(mark.slow) << 1;
                *word = *word & !(3 << at) | outcome << at;
            }
            self.next = (self.next + 1) % self.capacity;
            self.held = (self.held + 1).min(self.capacity);
        }
    }

    fn counts(&self) -> Counts {
        let mut counts = Counts { calls: self.held.into(), ..Counts::NONE };
        for word in &self.outcomes {
            counts.failures += u64::from((word & FAILED).count_ones());
            counts.slow += u64::from((word & SLOW).count_ones());
        }
        counts
    }

    fn describe(&mut self, form: &mut Form) {
        let capacity = form.at_most(MOST_CALLS, self.capacity);
        form.demand(capacity > 0);
        if form.reads() {
            *self = CallWindow::empty(capacity.clamp(1, MOST_CALLS));
        }
        self.next = form.at_most(self.capacity - 1, self.next);
        self.held = form.at_most(self.capacity, self.held);
        self.outcomes.iter_mut().for_each(|word| form.number(word));
    }
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
