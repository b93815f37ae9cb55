//! What the host was last told for each dependency, for acquires while the store fails.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::wire::{Decision, Deferral};

/// Beyond so many dependencies nothing more is kept: a stream of ever new names must not fill the memory.
const MOST: usize = 10_000;

#[derive(Default)]
pub(crate) struct LastKnown {
    known: Mutex<HashMap<Box<str>, Last>>,
}

#[derive(Clone, Debug)]
enum Last {
    Proceed,
    Defer { deferral: Deferral, asked: Duration },
}

/// What to answer in the store's place.
#[derive(Debug, PartialEq)]
pub(crate) enum Fallback {
    Proceed,
    Defer(Deferral),
    Unknown,
}

impl LastKnown {
    /// Notes an answer, and when it was asked for on the monotonic clock. That one probes says nothing for the next call.
    pub fn note(&self, dependency: &str, decision: &Decision, asked: Duration) {
        let last = match decision {
            Decision::Proceed(_) => Last::Proceed,
            Decision::Defer(deferral) => Last::Defer { deferral: deferral.clone(), asked },
            Decision::Probe(_) => return self.forget(dependency),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = known.get_mut(dependency) {
            *slot = last;
        } else if known.len() < MOST {
            known.insert(dependency.into(), last);
        }
    }

    fn forget(&self, dependency: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(dependency);
    }

    /// What the last answer means now.
    pub fn recall(&self, dependency: &str, now: Duration) -> Fallback {
        match self.known.lock().unwrap_or_else(PoisonError::into_inner).get(dependency) {
            None => Fallback::Unknown,
            Some(Last::Proceed) => Fallback::Proceed,
            Some(Last::Defer { deferral, asked }) => {
                let passed = u64::try_from(now.saturating_sub(*asked).as_millis()).unwrap_or(u64::MAX);
                match deferral.retry_after.saturating_sub(passed) {
                    0 => Fallback::Unknown,
                    left => Fallback::Defer(Deferral {
                        retry_after: left,
                        fresh_for: deferral.fresh_for.saturating_sub(passed),
                        admission: None,
                        ..deferral.clone()
                    }),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Admission, DeferReason, Permit, Probe};

    const MS: Duration = Duration::from_millis(1);

    fn permit() -> Permit {
        Permit { epoch: 1, lease: None }
    }

    #[test]
    fn a_deferral_lasts_for_what_is_left_of_it_and_then_nothing_is_known() {
        let known = LastKnown::default();
        let deferral =
            Deferral { retry_after: 100, spread: 7, reason: DeferReason::Open, fresh_for: 50, admission: None };
        known.note("a", &Decision::Defer(deferral.clone()), 1_000 * MS);
        let left = Deferral { retry_after: 40, fresh_for: 0, ..deferral };
        assert_eq!(known.recall("a", 1_060 * MS), Fallback::Defer(left));
        assert_eq!(known.recall("a", 1_100 * MS), Fallback::Unknown);
        assert_eq!(known.recall("b", 1_060 * MS), Fallback::Unknown);
    }

    #[test]
    fn who_was_let_through_stays_so_unless_it_was_as_a_probe() {
        let known = LastKnown::default();
        let admission = Admission { permit: permit(), fresh_for: 0, percent: 100, slower_than: None };
        known.note("a", &Decision::Proceed(admission), MS);
        assert_eq!(known.recall("a", 9_000 * MS), Fallback::Proceed);
        known.note("a", &Decision::Probe(Probe { permit: permit(), expires_in: 1, slower_than: None }), MS);
        assert_eq!(known.recall("a", 2 * MS), Fallback::Unknown);
    }
}
