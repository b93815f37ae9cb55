//! The window of outcomes that failure and slow-call rates are taken of.

use serde::{Deserialize, Serialize};

use crate::policy::WindowSpan;

mod calls;
mod counts;
mod time;

use calls::CallWindow;
pub use counts::{Counts, Mark};
use time::TimeWindow;

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
            WindowSpan::Ms(ms) => Window::Time(TimeWindow::empty(ms)),
            WindowSpan::Calls(capacity) => Window::Calls(CallWindow::empty(capacity)),
        }
    }

    /// Whether it has the shape of a policy's span.
    pub fn fits(&self, span: &WindowSpan) -> bool {
        match (self, span) {
            (Window::Time(time), WindowSpan::Ms(ms)) => time.fits(*ms),
            (Window::Calls(calls), WindowSpan::Calls(capacity)) => calls.fits(*capacity),
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
        assert!(Window::empty(&Span::Calls(10)).fits(&Span::Calls(10)));
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
}
