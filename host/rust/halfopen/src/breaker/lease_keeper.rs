use std::convert::Infallible;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use halfopen_contract::BreakerError;
use halfopen_contract::types::{Permit, StaleReason, Verdict};

use super::handle::Breaker;

/// The shortest pause between renewals, however short the lease is.
const SHORTEST: Duration = Duration::from_millis(1);

/// Renews a lease at each third of its length, from a thread of its own, until it is dropped or the lease is lost.
///
/// A renewal that the store fails is retried at the next third.
#[derive(Debug)]
#[must_use = "dropped, it stops renewing"]
pub struct LeaseKeeper {
    lost: Arc<OnceLock<StaleReason>>,
    /// Dropped, it ends the thread. That is not waited for: a renewal on its way changes nothing about a lease that has been
    /// settled.
    _running: mpsc::Sender<Infallible>,
}

impl LeaseKeeper {
    /// Starts renewing. `expires_in` is the length of the lease as it was granted; a permit without a lease is not
    /// renewed.
    pub fn start(breaker: &Breaker, permit: Permit, expires_in: Duration) -> LeaseKeeper {
        LeaseKeeper::start_with(breaker, permit, expires_in, |_| {})
    }

    /// The same, with a function that is called when the lease is lost: another caller may probe from then on, and the result
    /// will be stale.
    ///
    /// `on_lost` is called at most once, from the keeper's thread, and not after the keeper was dropped.
    pub fn start_with(
        breaker: &Breaker,
        permit: Permit,
        expires_in: Duration,
        on_lost: impl FnOnce(&StaleReason) + Send + 'static,
    ) -> LeaseKeeper {
        let lost = Arc::new(OnceLock::new());
        let (_running, stopped) = mpsc::channel();
        if permit.lease.is_some() {
            let every = (expires_in / 3).max(SHORTEST);
            // The keeper must not be the last to hold the host: the thread that drops that waits for the outbox.
            let (breaker, of_thread) = (breaker.passive(), lost.clone());
            let renew = move || renew_until_stopped(&breaker, permit, every, &stopped, &of_thread, on_lost);
            let thread = std::thread::Builder::new().name("halfopen-lease".to_owned()).spawn(renew);
            if let Err(error) = thread {
                // The probe goes on under the lease as it is.
                tracing::warn!(%error, "a lease is not renewed: no thread for it");
            }
        }
        LeaseKeeper { lost, _running }
    }

    /// Why the lease is lost; none while it is held as far as is known.
    pub fn lost(&self) -> Option<StaleReason> {
        self.lost.get().cloned()
    }
}

fn renew_until_stopped(
    breaker: &Breaker,
    permit: Permit,
    every: Duration,
    stopped: &Receiver<Infallible>,
    lost: &OnceLock<StaleReason>,
    on_lost: impl FnOnce(&StaleReason),
) {
    let mut due = Instant::now() + every;
    while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(due.saturating_duration_since(Instant::now())) {
        let mut next = every;
        match breaker.renew(permit) {
            Ok(receipt) => {
                if let Some(end) = receipt.next_due {
                    // A renewal can shorten a lease: the policy may have changed since it was granted.
                    let left = Duration::from_millis(end.saturating_sub(breaker.handle.inner.clock.now()));
                    next = (left / 3).clamp(every / 16, every);
                }
                if let Verdict::Stale(reason) = receipt.verdict {
                    if stopped.try_recv() == Err(TryRecvError::Empty) {
                        let _ = lost.set(reason.clone());
                        on_lost(&reason);
                    }
                    return;
                }
            }
            Err(error @ (BreakerError::Store(_) | BreakerError::Contended { .. } | BreakerError::Engine(_))) => {
                tracing::warn!(%error, dependency = breaker.dependency(), "a lease could not be renewed this time");
            }
            Err(error) => {
                tracing::warn!(%error, dependency = breaker.dependency(), "a lease is not renewed any more");
                return;
            }
        }
        due = (due + next).max(Instant::now());
    }
}
