//! What was last seen of each record, so that a commit needs no look of its own. Nothing rests on it being right: a commit
//! compares it with what is there.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::plan::Seen;

/// How many records a generation holds.
const GENERATION: usize = 4_096;

/// Two generations: when the young one is full, the old one goes.
#[derive(Default)]
pub(super) struct Known {
    generations: Mutex<[HashMap<Vec<u8>, Seen>; 2]>,
}

impl Known {
    pub fn get(&self, record: &[u8]) -> Option<Seen> {
        let generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        generations.iter().find_map(|generation| generation.get(record)).cloned()
    }

    /// Keeps it, without the record's bytes.
    pub fn keep(&self, record: Vec<u8>, seen: &Seen) {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        let [young, old] = &mut *generations;
        if young.len() >= GENERATION {
            *old = std::mem::take(young);
        }
        young.insert(record, seen.without_data());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_last_is_kept_and_memory_is_bounded() {
        let known = Known::default();
        let record = |number: usize| number.to_be_bytes().to_vec();
        for number in 0..3 * GENERATION {
            known.keep(record(number), &Seen { revision: number as i64, ..Seen::default() });
        }
        assert!(known.get(&record(0)).is_none());
        let newest = 3 * GENERATION - 1;
        assert_eq!(known.get(&record(newest)).map(|seen| seen.revision), Some(newest as i64));
        known.keep(record(newest), &Seen::default());
        assert_eq!(known.get(&record(newest)).map(|seen| seen.revision), Some(0));
        assert!(known.generations.lock().unwrap().iter().all(|generation| generation.len() <= GENERATION));
    }
}
