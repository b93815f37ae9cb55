//! The share of the calls that a ramp admits. It protects no secret.

use super::atomic::{AtomicU64, Ordering};

/// A sequence that all threads draw from without a lock (splitmix64), repeatable by its seed.
pub(crate) struct Sampler(AtomicU64);

impl Sampler {
    /// A seeded sequence, or a random one.
    pub fn new(seed: Option<u64>) -> Self {
        Sampler(AtomicU64::new(seed.unwrap_or_else(|| fastrand::u64(..))))
    }

    /// True in `percent` of the draws.
    pub fn hits(&self, percent: u32) -> bool {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut mixed = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ mixed >> 31) % 100 < u64::from(percent)
    }
}

#[cfg(test)]
mod tests;
