//! A window of the last outcomes in number.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::counts::{Counts, Mark};

/// The most outcomes of a call window.
const MOST_CALLS: u32 = 1_000;

/// The last outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallWindow {
    capacity: u32,
    /// From the oldest to the newest, a byte each: [`FAILED`] and [`SLOW`], or neither.
    outcomes: Vec<u8>,
}

const FAILED: u8 = 1;
const SLOW: u8 = 2;

impl CallWindow {
    pub(super) fn empty(capacity: u32) -> CallWindow {
        CallWindow { capacity, outcomes: Vec::new() }
    }

    /// Whether it holds this number of outcomes.
    pub(super) fn fits(&self, capacity: u32) -> bool {
        self.capacity == capacity
    }

    pub(super) fn count(&mut self, mark: Mark, times: u64) {
        let outcome = if mark.failed { FAILED } else { 0 } | if mark.slow { SLOW } else { 0 };
        let capacity = self.capacity as usize;
        let times = usize::try_from(times).unwrap_or(capacity).min(capacity);
        self.outcomes.extend(core::iter::repeat_n(outcome, times));
        self.outcomes.drain(..self.outcomes.len().saturating_sub(capacity));
    }

    pub(super) fn counts(&self) -> Counts {
        let having = |mark| self.outcomes.iter().filter(|outcome| **outcome & mark != 0).count() as u64;
        Counts { calls: self.outcomes.len() as u64, failures: having(FAILED), slow: having(SLOW) }
    }

    pub(super) fn is_sound(&self) -> bool {
        (1..=MOST_CALLS).contains(&self.capacity)
            && self.outcomes.len() <= self.capacity as usize
            && self.outcomes.iter().all(|outcome| *outcome <= FAILED | SLOW)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::window::Window;
    use alloc::vec;

    #[test]
    fn a_call_window_that_was_not_counted_is_unsound() {
        let good = CallWindow { capacity: 32, outcomes: vec![FAILED | SLOW; 32] };
        assert!(good.is_sound());
        for bad in [
            CallWindow { capacity: 0, outcomes: vec![] },
            CallWindow { capacity: 1_001, outcomes: vec![] },
            CallWindow { outcomes: vec![0; 33], ..good.clone() },
            CallWindow { outcomes: vec![4], ..good },
        ] {
            assert!(!Window::Calls(bad.clone()).is_sound(), "{bad:?}");
        }
    }
}
