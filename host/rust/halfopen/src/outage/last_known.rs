use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use halfopen_contract::time::{Clock, Reading};
use halfopen_contract::types::{Decision, Deferral};

/// Of more dependencies nothing is kept: a stream of ever new names must not fill the memory.
const MOST: usize = 10_000;

/// The last answer to an acquire of each dependency, for acquires while the store fails.
#[derive(Default)]
pub(crate) struct LastKnown(Mutex<HashMap<Box<str>, (Fallback, Reading)>>);

/// The answer in place of the store's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fallback {
    Proceed,
    Defer(Deferral),
    /// Nothing is known.
    Unknown,
}

impl LastKnown {
    /// Keeps an answer, and the time of its request. A probe says nothing of the next call.
    pub fn keep(&self, dependency: &str, decision: &Decision, request_time: Reading) {
        let mut answers = self.answers();
        let answer = match decision {
            Decision::Proceed(_) => (Fallback::Proceed, request_time),
            Decision::Defer(deferral) => (Fallback::Defer(deferral.clone()), request_time),
            Decision::Probe(_) => return drop(answers.remove(dependency)),
        };
        let has_room = answers.len() < MOST;
        match answers.get_mut(dependency) {
            Some(slot) => *slot = answer,
            None if has_room => drop(answers.insert(dependency.into(), answer)),
            None => {}
        }
    }

    /// The answer that the last one gives now.
    pub fn recall(&self, dependency: &str, clock: &dyn Clock) -> Fallback {
        match self.answers().get(dependency).cloned() {
            Some((Fallback::Defer(deferral), request_time)) => {
                let passed = u64::try_from(request_time.elapsed(clock).as_millis()).unwrap_or(u64::MAX);
                match deferral.retry_after.saturating_sub(passed) {
                    0 => Fallback::Unknown,
                    left => Fallback::Defer(Deferral {
                        retry_after: left,
                        fresh_for: deferral.fresh_for.saturating_sub(passed),
                        admission: None,
                        ..deferral
                    }),
                }
            }
            Some((answer, _)) => answer,
            None => Fallback::Unknown,
        }
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<Box<str>, (Fallback, Reading)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
