//! The report of an outcome, retried while the store is not available.

use std::time::{Duration, Instant};

use halfopen::{BreakerError, Outcome, Receipt, StaleReason, StoreError, Verdict};

use crate::process::Interruptible;
use crate::shell::text;

/// The time for which a report without a lease is retried. It is judged as of the moment of its arrival, and the end of the
/// program waits for it.
const RETRIED_FOR: Duration = Duration::from_secs(10);

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The pauses between attempts on a store that is not available: each twice as long as the one before, with jitter.
pub struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Self {
        Pauses(FIRST_PAUSE)
    }
}

impl Pauses {
    /// The next pause.
    pub fn next(&mut self) -> Duration {
        let pause = self.0.mul_f64(0.5 + fastrand::f64() / 2.0);
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
        pause
    }
}

/// The result of delivering a report.
#[derive(Debug)]
pub enum Delivery {
    /// The store took it at the first attempt.
    AtOnce(Receipt),
    /// The store took it later; the error of an attempt before, and the time since the first one.
    Late { receipt: Receipt, error: BreakerError, took: Duration },
    /// The store did not take it, or may have taken it.
    Failed { error: BreakerError },
    /// A signal ended the program before the store had answered.
    Unanswered,
}

impl Delivery {
    /// The receipt of a report that counts.
    pub fn applied(&self) -> Option<&Receipt> {
        let (Delivery::AtOnce(receipt) | Delivery::Late { receipt, .. }) = self else { return None };
        Some(receipt).filter(|receipt| receipt.verdict == Verdict::Applied)
    }

    /// The message for the user, where there is one.
    pub fn explained(&self, outcome: Outcome, leased: bool) -> Option<String> {
        let whose = if leased { "the probe's" } else { "the command's" };
        let unknown = format!("the command has run, but it is not known whether its result ({outcome}) was recorded");
        match self {
            // Without a lease, a change of state while the command runs is normal.
            Delivery::AtOnce(receipt) if leased => stale_reason(receipt).map(|why| does_not_count(whose, why)),
            Delivery::AtOnce(_) => None,
            Delivery::Late { receipt, error, took } => Some(match stale_reason(receipt) {
                // An attempt whose answer was lost has counted.
                None | Some(StaleReason::AlreadyReported) => {
                    format!("the command's result ({outcome}) was recorded {} late: {error}", text::duration(*took))
                }
                Some(why) => does_not_count(whose, why),
            }),
            Delivery::Failed { error: error @ BreakerError::Store(StoreError::InDoubt { .. }) } => {
                Some(format!("{unknown}: {error}"))
            }
            Delivery::Unanswered => Some(format!("{unknown}: a signal ended halfopen before the store had answered")),
            Delivery::Failed { error } => {
                Some(format!("the command has run, but its result ({outcome}) could not be recorded: {error}"))
            }
        }
    }
}

fn stale_reason(receipt: &Receipt) -> Option<&StaleReason> {
    match &receipt.verdict {
        Verdict::Applied => None,
        Verdict::Stale(why) => Some(why),
    }
}

fn does_not_count(whose: &str, why: &StaleReason) -> String {
    format!("{whose} result came too late and does not count ({why})")
}

/// Makes a report, and retries it while the store is not available: until the lease has ended, or without one for
/// [`RETRIED_FOR`]. `sleep` returns whether to go on.
pub fn deliver(
    mut attempt: impl FnMut() -> Interruptible<anyhow::Result<Result<Receipt, BreakerError>>>,
    lease: Option<Duration>,
    sleep: impl Fn(Duration) -> bool,
) -> Delivery {
    let started = Instant::now();
    // A lease that was renewed a moment ago ends after its whole length. A report after its end is stale.
    let limit = lease.unwrap_or(RETRIED_FOR);
    let mut pauses = Pauses::default();
    let mut before: Option<BreakerError> = None;
    loop {
        let (result, is_last) = match attempt() {
            Interruptible::Done(result) => (result, false),
            Interruptible::Interrupted { result: Some(result), .. } => (result, true),
            Interruptible::Interrupted { result: None, .. } => return Delivery::Unanswered,
        };
        let error = match (result, before) {
            (Ok(Ok(receipt)), None) => return Delivery::AtOnce(receipt),
            (Ok(Ok(receipt)), Some(error)) => return Delivery::Late { receipt, error, took: started.elapsed() },
            (Ok(Err(error)), _) => error,
            // The host does not open, though the store's error would not keep it from that.
            (Err(error), _) => BreakerError::Other(format!("{error:#}")),
        };
        let goes_on = !is_last && may_be_retried(&error, lease.is_some()) && started.elapsed() < limit;
        if !goes_on || !sleep(pauses.next()) {
            return Delivery::Failed { error };
        }
        before = Some(error);
    }
}

/// Whether the store was not available, and a retry cannot count the report twice.
fn may_be_retried(error: &BreakerError, leased: bool) -> bool {
    match error {
        BreakerError::Store(StoreError::Unavailable { .. }) => true,
        // A report with a lease counts once.
        BreakerError::Store(StoreError::InDoubt { .. }) => leased,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
