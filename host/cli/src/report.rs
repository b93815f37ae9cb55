//! Reporting how a command ended, while the store may be out of reach.

use std::time::{Duration, Instant};

use halfopen::{BreakerError, Receipt, StoreError};

/// For so long a result without a lease is reported again. It is judged as if it had just happened, and somebody waits for
/// the program to end.
const RETRIED_FOR: Duration = Duration::from_secs(10);

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What came of it.
#[derive(Debug)]
pub enum Made {
    /// It was told at once.
    Told(Receipt),
    /// It was told so long after the first try, which had come to this.
    ToldLate { receipt: Receipt, error: BreakerError, took: Duration },
    /// It was not told, or that is not known.
    NotTold { error: BreakerError },
}

/// Makes a report; again and again while the store cannot be reached, until its lease has ended, or without one for a few
/// seconds. `sleep` says whether to go on.
pub fn made(
    mut report: impl FnMut() -> Result<Receipt, BreakerError>,
    lease: Option<Duration>,
    sleep: impl Fn(Duration) -> bool,
) -> Made {
    let started = Instant::now();
    // It may just have been renewed: then it ends so long from now. Reported after its end it is stale.
    let limit = lease.unwrap_or(RETRIED_FOR);
    let mut error = match report() {
        Ok(receipt) => return Made::Told(receipt),
        Err(error) => error,
    };
    let mut pause = FIRST_PAUSE;
    while may_be_repeated(&error, lease.is_some()) && started.elapsed() < limit {
        if !sleep(pause.mul_f64(0.5 + fastrand::f64() / 2.0)) {
            break;
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
        match report() {
            Ok(receipt) => return Made::ToldLate { receipt, error, took: started.elapsed() },
            Err(next) => error = next,
        }
    }
    Made::NotTold { error }
}

/// Whether the store was out of reach, and repeating a report cannot count it twice.
fn may_be_repeated(error: &BreakerError, leased: bool) -> bool {
    match error {
        BreakerError::Store(StoreError::Unavailable { .. }) => true,
        // A report with a lease counts once.
        BreakerError::Store(StoreError::InDoubt { .. }) => leased,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfopen::{State, Verdict};

    fn receipt() -> Receipt {
        Receipt { verdict: Verdict::Applied, state: State::Closed, next_due: None, transitions: Vec::new() }
    }

    fn unavailable() -> BreakerError {
        StoreError::Unavailable { place: "test".to_owned(), why: "told to".to_owned() }.into()
    }

    fn in_doubt() -> BreakerError {
        StoreError::InDoubt { place: "test".to_owned(), why: "told to".to_owned() }.into()
    }

    const LEASE: Option<Duration> = Some(Duration::from_secs(3_600));

    #[test]
    fn a_report_is_repeated_until_the_store_takes_it() {
        let mut answers = vec![Ok(receipt()), Err(unavailable()), Err(unavailable())];
        let told = made(|| answers.pop().unwrap(), None, |_| true);
        assert!(matches!(told, Made::ToldLate { .. }), "{told:?}");
        assert!(answers.is_empty());
    }

    #[test]
    fn what_may_have_counted_is_repeated_only_where_it_counts_once() {
        let mut tries = 0;
        let mut report = || {
            tries += 1;
            Err(in_doubt())
        };
        assert!(matches!(made(&mut report, None, |_| true), Made::NotTold { .. }));
        let mut answers = vec![Ok(receipt()), Err(in_doubt())];
        assert!(matches!(made(|| answers.pop().unwrap(), LEASE, |_| true), Made::ToldLate { .. }));
        assert_eq!(tries, 1);
    }

    #[test]
    fn who_is_asked_to_end_does_and_after_the_end_of_the_lease_there_is_no_more_trying() {
        let told = made(|| Err(unavailable()), LEASE, |_| false);
        assert!(matches!(told, Made::NotTold { .. }), "{told:?}");
        let told = made(|| Err(unavailable()), Some(Duration::ZERO), |_| panic!("it goes on"));
        assert!(matches!(told, Made::NotTold { .. }), "{told:?}");
    }
}
