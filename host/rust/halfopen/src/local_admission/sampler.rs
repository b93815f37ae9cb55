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
mod tests {
    use super::*;

    #[test]
    fn it_hits_with_its_percentage_and_a_seed_repeats_it() {
        for percent in [0, 1, 25, 99, 100] {
            let (one, other) = (Sampler::new(Some(7)), Sampler::new(Some(7)));
            let draws: Vec<bool> = (0..10_000).map(|_| one.hits(percent)).collect();
            assert_eq!(draws, (0..10_000).map(|_| other.hits(percent)).collect::<Vec<_>>());
            let hits = draws.iter().filter(|hit| **hit).count() as u32;
            assert!(hits.abs_diff(percent * 100) <= 150, "{hits} of 10000 at {percent} %");
        }
    }
}
