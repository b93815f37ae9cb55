//! A counter of successes that scales over processors: each thread counts in a stripe of its own, or nearly so.
//!
//! Each stripe carries the generation that it counts for. A generation is one epoch of the record as this process knows
//! it; when that changes, a call that was admitted under the older one can no longer be counted here:
//! [`StripedCounter::add`] refuses.

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

/// Two cache lines wide, since processors fetch them in pairs.
#[repr(align(128))]
struct Stripe {
    plain: AtomicU64,
    slow: AtomicU64,
}

/// See [the module](self).
pub(crate) struct StripedCounter {
    stripes: Box<[Stripe]>,
}

/// The upper half of a counter is its generation, the lower half the number.
pub(crate) const NUMBER: u64 = u32::MAX as u64;

fn tagged(generation: u32, number: u64) -> u64 {
    u64::from(generation) << 32 | number
}

impl StripedCounter {
    /// A counter with this number of stripes, rounded up to a power of two, for a generation.
    pub fn new(stripes: usize, generation: u32) -> Self {
        let zero = || AtomicU64::new(tagged(generation, 0));
        let stripe = || Stripe { plain: zero(), slow: zero() };
        StripedCounter { stripes: (0..stripes.next_power_of_two()).map(|_| stripe()).collect() }
    }

    /// A counter with one stripe that has counted all it can.
    #[cfg(test)]
    pub fn full(generation: u32) -> Self {
        let counter = StripedCounter::new(1, generation);
        counter.stripes[0].plain.store(tagged(generation, NUMBER), Ordering::SeqCst);
        counter
    }

    /// Counts a success; false where another generation is counted by now.
    #[inline]
    pub fn add(&self, stripe: usize, generation: u32, slow: bool) -> bool {
        let stripe = &self.stripes[stripe & (self.stripes.len() - 1)];
        add(if slow { &stripe.slow } else { &stripe.plain }, generation)
    }

    /// Takes the count of a generation out.
    pub fn drain(&self, generation: u32) -> Successes {
        debug_assert!(self.stripes.iter().all(|one| one.plain.load(Ordering::SeqCst) >> 32 == u64::from(generation)));
        // The generation stays: a thread that changes it holds the same lock. A counter that is 0 is written as well, so
        // that a thread which counts after this sees all that was done before it.
        self.sum(|counter| counter.fetch_and(!NUMBER, Ordering::SeqCst) & NUMBER)
    }

    /// Whether nothing is counted.
    pub fn is_empty(&self) -> bool {
        self.sum(|counter| counter.load(Ordering::SeqCst) & NUMBER).is_empty()
    }

    /// Begins another generation, and takes the count of the last one out.
    pub fn begin(&self, generation: u32) -> Successes {
        self.sum(|counter| counter.swap(tagged(generation, 0), Ordering::SeqCst) & NUMBER)
    }

    fn sum(&self, take: impl Fn(&AtomicU64) -> u64) -> Successes {
        self.stripes.iter().fold(Successes::default(), |sum, stripe| Successes {
            plain: sum.plain + take(&stripe.plain),
            slow: sum.slow + take(&stripe.slow),
        })
    }
}

#[inline]
fn add(counter: &AtomicU64, generation: u32) -> bool {
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
