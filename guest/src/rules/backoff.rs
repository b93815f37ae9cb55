//! The length of an open window.

use crate::policy::Policy;

/// The length of an open window at a backoff level, in ms, with jitter: `open_ms`, multiplied by `open_multiplier` once a
/// level, rounded down, at least `at_least` and at most `open_max_ms`, plus a random 0 to `jitter_percent` of that.
///
/// One multiplication after the other and no `pow`, whose last digit differs between machines.
pub fn length(policy: &Policy, level: u32, at_least: u64, entropy: &mut dyn FnMut() -> u64) -> u64 {
    let most = policy.open_max_ms as f64;
    let mut length = policy.open_ms as f64;
    for _ in 0..level {
        let longer = length * policy.open_multiplier;
        // Either the length stays the same (a multiplier of 1), or the limit is reached: the level itself is not capped.
        if longer <= length {
            break;
        }
        length = longer;
        if length >= most {
            break;
        }
    }
    let length = (length as u64).max(at_least).min(policy.open_max_ms);
    length.saturating_add(random_share(length, policy.jitter_percent, entropy))
}

/// A percentage of a length, rounded down.
pub fn share(length: u64, percent: u32) -> u64 {
    length.saturating_mul(u64::from(percent)) / 100
}

fn random_share(length: u64, percent: u32, entropy: &mut dyn FnMut() -> u64) -> u64 {
    match share(length, percent) {
        0 => 0,
        most => entropy() % (most + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::BUILT_IN;
    use std::vec::Vec;

    fn plain(policy: &Policy, level: u32) -> u64 {
        length(policy, level, 0, &mut || 0)
    }

    #[test]
    fn each_level_multiplies_the_window_up_to_the_limit() {
        let lengths: Vec<u64> = (0..9).map(|level| plain(&BUILT_IN, level)).collect();
        assert_eq!(lengths, [5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000]);
    }

    #[test]
    fn fractions_are_carried_on_and_rounded_down_only_at_the_end() {
        let policy = Policy { open_ms: 5, open_multiplier: 1.1, ..BUILT_IN };
        // 5.5, 6.05, 6.655, 7.3205, 8.05255
        let lengths: Vec<u64> = (0..6).map(|level| plain(&policy, level)).collect();
        assert_eq!(lengths, [5, 5, 6, 6, 7, 8]);
    }

    #[test]
    fn any_level_ends_in_bounded_time() {
        let flat = Policy { open_multiplier: 1.0, ..BUILT_IN };
        assert_eq!(plain(&flat, u32::MAX), 5_000);
        assert_eq!(plain(&BUILT_IN, u32::MAX), 300_000);
    }

    #[test]
    fn jitter_lengthens_by_at_most_its_percentage() {
        let most = length(&BUILT_IN, 0, 0, &mut || 1_000);
        assert_eq!(most, 6_000);
        let wrapped = length(&BUILT_IN, 0, 0, &mut || 1_001);
        assert_eq!(wrapped, 5_000);
    }

    #[test]
    fn a_longer_wish_of_the_dependency_counts_up_to_the_limit() {
        for (at_least, expected) in [(4_999, 5_000), (5_001, 5_001), (300_000, 300_000), (u64::MAX, 300_000)] {
            assert_eq!(length(&BUILT_IN, 0, at_least, &mut || 0), expected);
        }
        assert_eq!(length(&BUILT_IN, 0, 10_000, &mut || 2_000), 12_000, "the jitter is taken of the longer length");
    }
}
