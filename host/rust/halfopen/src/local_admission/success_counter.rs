//! The successes of a dependency that the store does not have yet, and the timer that will flush them.
//!
//! The counter scales over processors: each thread counts in a stripe of its own, or nearly so. Each stripe carries the
//! generation that it counts for. A generation is one epoch of the record as this process knows it; when that changes, a call
//! that was admitted under the older one can no longer be counted here: [`SuccessCounter::add`] refuses.
//!
//! A thread that counts reads the timer afterwards; a thread that flushes removes the timer before. One of them sees the
//! other, so that no success is left without a timer.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

use super::atomic::{AtomicU64, Ordering};

/// Successes that were counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Successes {
    /// Successes that were not slow.
    pub plain: u64,
    /// Successes that were slow.
    pub slow: u64,
}

impl Successes {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Successes::default()
    }
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

/// Two cache lines wide, since processors fetch them in pairs. The upper half of each count is its generation.
#[repr(align(128))]
struct Stripe {
    plain: AtomicU64,
    slow: AtomicU64,
}

/// See [the module](self).
pub(crate) struct SuccessCounter {
    stripes: Box<[Stripe]>,
    /// The number of the timer; 0 where there is none.
    timer: AtomicU64,
}

/// The part of a count that is its number; the rest is its generation.
pub(crate) const NUMBER: u64 = u32::MAX as u64;

fn tagged(generation: u32, number: u64) -> u64 {
    u64::from(generation) << 32 | number
}

impl SuccessCounter {
    /// A counter with this number of stripes, rounded up to a power of two, for a generation, without a timer.
    pub fn new(stripes: usize, generation: u32) -> Self {
        let zero = || AtomicU64::new(tagged(generation, 0));
        let stripes = (0..stripes.next_power_of_two()).map(|_| Stripe { plain: zero(), slow: zero() }).collect();
        SuccessCounter { stripes, timer: AtomicU64::new(0) }
    }

    /// A counter with one stripe that has counted all it can.
    #[cfg(test)]
    pub fn full(generation: u32) -> Self {
        let counter = SuccessCounter::new(1, generation);
        counter.stripes[0].plain.store(tagged(generation, NUMBER), Ordering::SeqCst);
        counter
    }

    /// Counts a success.
    #[inline]
    pub fn add(&self, stripe: usize, generation: u32, slow: bool) -> Added {
        match self.count(stripe, generation, slow) {
            false => Added::Refused,
            true if self.timer() == 0 => Added::NeedsTimer,
            true => Added::Counted,
        }
    }

    /// Counts a success, and leaves the timer unread; false where another generation is counted by now.
    #[inline]
    pub fn count(&self, stripe: usize, generation: u32, slow: bool) -> bool {
        let stripe = &self.stripes[stripe & (self.stripes.len() - 1)];
        let counter = if slow { &stripe.slow } else { &stripe.plain };
        let mut current = counter.load(Ordering::Relaxed);
        while current >> 32 == u64::from(generation) {
            // One more on top of a full counter would say nothing new.
            let next = tagged(generation, (current & NUMBER).saturating_add(1).min(NUMBER));
            match counter.compare_exchange_weak(current, next, Ordering::SeqCst, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(newer) => current = newer,
            }
        }
        false
    }

    /// Removes the timer, and takes the count of the generation out.
    pub fn flush(&self, generation: u32) -> Successes {
        self.set_timer(0);
        self.drain(generation)
    }

    /// Takes the count of the generation out. The timer stays.
    pub fn drain(&self, generation: u32) -> Successes {
        debug_assert!(self.stripes.iter().all(|one| one.plain.load(Ordering::SeqCst) >> 32 == u64::from(generation)));
        // The generation stays: a thread that changes it holds the same lock. A counter that is 0 is written as well, so
        // that a thread which counts after this sees all that was done before it.
        self.sum(|counter| counter.fetch_and(!NUMBER, Ordering::SeqCst) & NUMBER)
    }

    /// Begins another generation, and takes the count of the last one out. The timer stays.
    pub fn begin(&self, generation: u32) -> Successes {
        self.sum(|counter| counter.swap(tagged(generation, 0), Ordering::SeqCst) & NUMBER)
    }

    /// Whether nothing is counted.
    pub fn is_empty(&self) -> bool {
        self.sum(|counter| counter.load(Ordering::SeqCst) & NUMBER).is_empty()
    }

    fn sum(&self, take: impl Fn(&AtomicU64) -> u64) -> Successes {
        self.stripes.iter().fold(Successes::default(), |sum, stripe| Successes {
            plain: sum.plain + take(&stripe.plain),
            slow: sum.slow + take(&stripe.slow),
        })
    }

    /// The number of the timer; 0 where there is none.
    #[inline]
    pub fn timer(&self) -> u64 {
        self.timer.load(Ordering::SeqCst)
    }

    /// Sets the timer, in place of another; 0 removes it.
    pub fn set_timer(&self, number: u64) {
        self.timer.store(number, Ordering::SeqCst);
    }
}

/// The number of stripes of a counter: threads that run at the same time should have one each.
pub(super) fn stripes() -> usize {
    static STRIPES: OnceLock<usize> = OnceLock::new();
    *STRIPES.get_or_init(|| std::thread::available_parallelism().map_or(4, |n| n.get()).min(32))
}

/// This thread's stripe.
#[inline]
pub(super) fn stripe() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static STRIPE: Cell<usize> = const { Cell::new(usize::MAX) };
    }
    match STRIPE.get() {
        usize::MAX => {
            let own = NEXT.fetch_add(1, Ordering::Relaxed) & 0xffff;
            STRIPE.set(own);
            own
        }
        own => own,
    }
}
