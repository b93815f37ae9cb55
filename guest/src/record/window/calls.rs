//! A window of the last outcomes in number.

use alloc::vec;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Mark};

/// The most outcomes of a call window.
const MOST_CALLS: u32 = 1_000;

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
const SLOW: u64 = 0xAAAA_AAAA_AAAA_AAAA;

impl CallWindow {
    pub(super) fn empty(capacity: u32) -> CallWindow {
        CallWindow { capacity, next: 0, held: 0, outcomes: vec![0; words(capacity)] }
    }

    /// Whether it holds this number of outcomes.
    pub(super) fn fits(&self, capacity: u32) -> bool {
        self.capacity == capacity
    }

    pub(super) fn count(&mut self, mark: Mark, times: u64) {
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

    pub(super) fn counts(&self) -> Counts {
        let mut counts = Counts { calls: self.held.into(), ..Counts::default() };
        for word in &self.outcomes {
            counts.failures += u64::from((word & FAILED).count_ones());
            counts.slow += u64::from((word & SLOW).count_ones());
        }
        counts
    }

    pub(super) fn is_sound(&self) -> bool {
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
            assert!(!bad.is_sound(), "{bad:?}");
        }
    }
}
