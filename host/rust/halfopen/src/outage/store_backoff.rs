use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use halfopen_contract::store::StoreError;
use halfopen_contract::time::Backoff;

/// Holds acquires back while the store cannot be reached: one of the host tries it now and then, the others are answered at
/// once.
///
/// This is the only place that does so, for all stores: a herd of callers neither waits for the limits of its store again
/// and again nor keeps it from coming up, and all get the same error.
pub(crate) struct StoreBackoff {
    /// Whether there is an outage: all that an attempt reads while the store is fine.
    is_on: AtomicBool,
    /// False on a clock that stands still: nothing becomes due by itself there, and every acquire tries.
    paces: bool,
    outage: Mutex<Option<Outage>>,
}

struct Outage {
    error: StoreError,
    /// None where waiting does not help: then every acquire tries.
    backoff: Option<Backoff>,
    /// An acquire is trying now.
    is_tried: bool,
}

/// The right to try the store.
pub(crate) struct Attempt<'a>(Option<&'a StoreBackoff>);

impl StoreBackoff {
    /// No outage. `paces` says whether time passes by itself.
    pub fn new(paces: bool) -> Self {
        StoreBackoff { is_on: AtomicBool::new(false), paces, outage: Mutex::new(None) }
    }

    /// The right to try the store; the last error, where a retry is not due or another acquire is at it.
    pub fn attempt(&self) -> Result<Attempt<'_>, StoreError> {
        if !self.is_on() {
            return Ok(Attempt(None));
        }
        match &mut *self.outage() {
            Some(Outage { error, backoff: Some(backoff), is_tried }) if self.paces => {
                if *is_tried || backoff.wait() > Duration::ZERO {
                    return Err(error.clone());
                }
                *is_tried = true;
                Ok(Attempt(Some(self)))
            }
            _ => Ok(Attempt(None)),
        }
    }

    /// Counts an acquire that the store has failed.
    pub fn failed(&self, error: &StoreError) {
        let mut outage = self.outage();
        let backoff = match (outage.as_ref().and_then(|outage| outage.backoff), error.is_outage()) {
            (_, false) => None,
            (None, true) => Some(Backoff::begin()),
            (Some(mut backoff), true) => {
                backoff.again();
                Some(backoff)
            }
        };
        let is_tried = outage.as_ref().is_some_and(|outage| outage.is_tried);
        *outage = Some(Outage { error: error.clone(), backoff, is_tried });
        self.is_on.store(true, Ordering::Relaxed);
    }

    /// Ends the outage: the store has answered.
    #[inline]
    pub fn end(&self) {
        if self.is_on() {
            let was_on = self.outage().take().is_some();
            self.is_on.store(false, Ordering::Relaxed);
            if was_on {
                tracing::info!("the store answers again");
            }
        }
    }

    fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Whether acquires are held back, so that reports had better wait too.
    pub fn is_paced(&self) -> bool {
        self.is_on() && self.paces && self.outage().as_ref().is_some_and(|outage| outage.backoff.is_some())
    }

    /// The error of the outage; none where there is no outage.
    pub fn error(&self) -> Option<StoreError> {
        self.outage().as_ref().map(|outage| outage.error.clone())
    }

    fn outage(&self) -> MutexGuard<'_, Option<Outage>> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let Some(store_backoff) = self.0 else { return };
        if let Some(outage) = &mut *store_backoff.outage() {
            outage.is_tried = false;
        }
    }
}

#[cfg(test)]
mod tests;
