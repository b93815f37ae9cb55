//! The successes of a dependency that the store does not have yet, and the timer that will flush them.
//!
//! A thread that counts reads the timer afterwards; a thread that flushes removes the timer before. One of them sees the
//! other, so that no success is left without a timer.

use super::atomic::{AtomicU64, Ordering};
use super::striped_counter::{StripedCounter, Successes};

/// See [the module](self).
pub(crate) struct SuccessCounter {
    counter: StripedCounter,
    /// The number of the timer; 0 where there is none.
    timer: AtomicU64,
}

/// The result of counting a success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Added {
    /// It is not counted: another generation is counted by now.
    Refused,
    /// It is counted, and a timer will flush it.
    Counted,
    /// It is counted, and a timer has yet to be set.
    NeedsTimer,
}

impl SuccessCounter {
    /// A counter with this number of stripes, for a generation, without a timer.
    pub fn new(stripes: usize, generation: u32) -> Self {
        SuccessCounter { counter: StripedCounter::new(stripes, generation), timer: AtomicU64::new(0) }
    }

    /// Counts a success.
    #[inline]
    pub fn add(&self, stripe: usize, generation: u32, slow: bool) -> Added {
        if !self.counter.add(stripe, generation, slow) {
            return Added::Refused;
        }
        if self.has_timer() { Added::Counted } else { Added::NeedsTimer }
    }

    /// Removes the timer, and takes the count out.
    pub fn flush(&self, generation: u32) -> Successes {
        self.remove_timer();
        self.counter.drain(generation)
    }

    /// Takes the count out. The timer stays.
    pub fn drain(&self, generation: u32) -> Successes {
        self.counter.drain(generation)
    }

    /// Begins another generation, and takes the count of the last one out. The timer stays.
    pub fn begin(&self, generation: u32) -> Successes {
        self.counter.begin(generation)
    }

    /// Whether nothing is counted.
    pub fn is_empty(&self) -> bool {
        self.counter.is_empty()
    }

    /// Whether there is a timer.
    #[inline]
    pub fn has_timer(&self) -> bool {
        self.timer.load(Ordering::SeqCst) != 0
    }

    /// Whether the timer is this one.
    pub fn is_timer(&self, number: u64) -> bool {
        self.timer.load(Ordering::SeqCst) == number
    }

    /// Sets the timer, in place of another.
    pub fn set_timer(&self, number: u64) {
        self.timer.store(number, Ordering::SeqCst);
    }

    /// Removes the timer.
    pub fn remove_timer(&self) {
        self.timer.store(0, Ordering::SeqCst);
    }
}
