//! The renewals of a probe's lease.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::time::Duration;

use halfopen::{OnStoreError, Permit, StaleReason, Verdict};

use super::session::Session;
use crate::host::Opener;
use crate::shell::output::note;
use crate::shell::text;

/// Renews a lease until it is dropped or the lease is lost: at each third of its length, on a host that is open only for that.
/// A renewal that the store fails is retried at the next third.
#[must_use = "dropped, it stops renewing"]
pub struct Renewals {
    _stop: Sender<()>,
}

impl Session<'_> {
    /// Renews the lease of a probe, and warns when it is lost.
    pub fn renew(&self, permit: Permit, lease: Duration) -> Renewals {
        let (opener, dependency, quiet) = (self.opener.clone(), self.args.dependency.clone(), self.args.quiet);
        let (stop, stopped) = mpsc::channel::<()>();
        let renew = move || {
            let every = lease / 3;
            let mut pause = every;
            while stopped.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
                pause = every;
                match renewed(&opener, &dependency, permit) {
                    Ok(Ok(left)) => pause = (left / 3).clamp(every / 16, every),
                    Ok(Err(why)) => {
                        if !quiet && stopped.try_recv() != Err(mpsc::TryRecvError::Disconnected) {
                            note(format_args!(
                                "{dependency}: the probe's lease is lost ({why}); the command runs on, but its result will \
                                 not count"
                            ));
                        }
                        return;
                    }
                    Err(error) => tracing::warn!(%error, dependency, "a lease could not be renewed this time"),
                }
            }
        };
        if let Err(error) = std::thread::Builder::new().name("lease".to_owned()).spawn(renew) {
            // The probe goes on under the lease as it is.
            tracing::warn!(%error, "a lease is not renewed: no thread for it");
        }
        Renewals { _stop: stop }
    }
}

/// The rest of the lease, or why it is lost.
fn renewed(opener: &Opener, dependency: &str, permit: Permit) -> anyhow::Result<Result<Duration, StaleReason>> {
    let receipt = opener(OnStoreError::FailOpen)?.breaker(dependency).renew(permit)?;
    Ok(match receipt.verdict {
        Verdict::Stale(why) => Err(why),
        // A renewal can shorten a lease: the policy may have changed since it was granted.
        Verdict::Applied => {
            let end = receipt.next_due.unwrap_or(u64::MAX);
            Ok(Duration::from_millis(end.saturating_sub(text::now())))
        }
    })
}
