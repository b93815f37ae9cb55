//! The store cannot be asked: until it can, one acquire of the host asks now and then, and the others are answered at once.
//!
//! This is the only place that holds acquires back, for all stores: so that a herd of callers neither waits for the limits
//! of its store again and again nor keeps it from coming up, and all are told the same.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::backoff::Backoff;
use crate::error::StoreError;

pub(crate) struct Outage {
    /// Whether there is one: all that who asks looks at while the store is fine.
    is_on: AtomicBool,
    /// False on a clock that stands still: there nothing becomes due by itself, and everybody asks.
    paces: bool,
    known: Mutex<Option<Known>>,
}

struct Known {
    error: StoreError,
    /// None where waiting does not help: then everybody asks.
    backoff: Option<Backoff>,
    /// Somebody is asking now.
    asking: bool,
}

/// The right to ask the store.
pub(crate) struct Turn<'a>(Option<&'a Outage>);

impl Outage {
    pub fn new(paces: bool) -> Self {
        Outage { is_on: AtomicBool::new(false), paces, known: Mutex::new(None) }
    }

    /// Asks for the right to ask; the last error, where it is not the time for it or somebody else is at it.
    pub fn turn(&self) -> Result<Turn<'_>, StoreError> {
        if !self.is_on() {
            return Ok(Turn(None));
        }
        match &mut *self.known() {
            Some(Known { error, backoff: Some(backoff), asking }) if self.paces => {
                if *asking || backoff.wait() > Duration::ZERO {
                    return Err(error.clone());
                }
                *asking = true;
                Ok(Turn(Some(self)))
            }
            _ => Ok(Turn(None)),
        }
    }

    /// The store has failed an acquire.
    pub fn failed(&self, error: &StoreError) {
        let mut known = self.known();
        let backoff = match (known.as_ref().and_then(|known| known.backoff), error.is_outage()) {
            (_, false) => None,
            (None, true) => Some(Backoff::begin()),
            (Some(mut backoff), true) => {
                backoff.again();
                Some(backoff)
            }
        };
        let asking = known.as_ref().is_some_and(|known| known.asking);
        *known = Some(Known { error: error.clone(), backoff, asking });
        self.is_on.store(true, Ordering::Relaxed);
    }

    /// The store has answered.
    #[inline]
    pub fn over(&self) {
        if self.is_on() {
            let mut known = self.known();
            let was_known = known.take().is_some();
            self.is_on.store(false, Ordering::Relaxed);
            drop(known);
            if was_known {
                tracing::info!("the store answers again");
            }
        }
    }

    /// Whether the store could not be asked last.
    pub fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Whether waiting may help, so that what is to be written is better written later.
    pub fn is_paced(&self) -> bool {
        self.is_on() && self.paces && self.known().as_ref().is_some_and(|known| known.backoff.is_some())
    }

    /// Why it could not be asked last.
    pub fn error(&self) -> Option<StoreError> {
        self.known().as_ref().map(|known| known.error.clone())
    }

    fn known(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let Some(outage) = self.0 else { return };
        if let Some(known) = &mut *outage.known() {
            known.asking = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unavailable() -> StoreError {
        StoreError::Unavailable { place: "test".to_owned(), why: "told to".to_owned() }
    }

    fn is_due(outage: &Outage) {
        if let Some(Known { backoff: Some(backoff), .. }) = &mut *outage.known() {
            backoff.hurry();
        }
    }

    #[test]
    fn after_a_failure_nobody_asks_until_it_is_due_and_then_one() {
        let outage = Outage::new(true);
        assert!(outage.turn().is_ok() && outage.turn().is_ok());
        outage.failed(&unavailable());
        assert_eq!(outage.turn().err(), Some(unavailable()));
        is_due(&outage);
        let turn = outage.turn().unwrap();
        assert_eq!(outage.turn().err(), Some(unavailable()), "one asks");
        drop(turn);
        assert!(outage.turn().is_ok(), "it came to nothing, and the next one asks");
    }

    #[test]
    fn the_first_answer_ends_it_for_all() {
        let outage = Outage::new(true);
        outage.failed(&unavailable());
        is_due(&outage);
        let turn = outage.turn().unwrap();
        outage.over();
        drop(turn);
        assert!(outage.error().is_none());
        assert!([outage.turn(), outage.turn()].iter().all(Result::is_ok));
    }

    #[test]
    fn what_waiting_does_not_mend_holds_nobody_back() {
        let outage = Outage::new(true);
        let denied = StoreError::Denied { place: "test".to_owned(), why: "told to".to_owned() };
        outage.failed(&denied);
        assert!([outage.turn(), outage.turn()].iter().all(Result::is_ok));
        assert_eq!(outage.error(), Some(denied), "and it is told");
    }

    #[test]
    fn on_a_clock_that_stands_still_everybody_asks() {
        let outage = Outage::new(false);
        outage.failed(&unavailable());
        assert!([outage.turn(), outage.turn()].iter().all(Result::is_ok));
    }
}
