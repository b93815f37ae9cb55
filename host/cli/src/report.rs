//! Reporting how a command ended, while the store may be out of reach.

use std::time::{Duration, Instant};

use halfopen::{BreakerError, Outcome, Receipt, StaleReason, StoreError, Verdict};

use crate::supervise::CameTo;
use crate::text;

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
    /// A signal came before the store had answered.
    Unanswered,
}

impl Made {
    /// What to say of it, where anything is to be said.
    pub fn explained(&self, outcome: Outcome, leased: bool) -> Option<String> {
        let whose = if leased { "the probe's" } else { "the command's" };
        match self {
            // That others have changed the state while the command ran is in the order of things.
            Made::Told(receipt) if leased => too_late(receipt).map(|why| does_not_count(whose, why)),
            Made::Told(_) => None,
            Made::ToldLate { receipt, error, took } => Some(match too_late(receipt) {
                // Then a try whose answer was lost has counted.
                None | Some(StaleReason::AlreadyReported) => {
                    format!("the command's result ({outcome}) was recorded {} late: {error}", text::duration(*took))
                }
                Some(why) => does_not_count(whose, why),
            }),
            Made::NotTold { error: error @ BreakerError::Store(StoreError::InDoubt { .. }) } => Some(format!(
                "the command has run, but it is not known whether its result ({outcome}) was recorded: {error}"
            )),
            Made::Unanswered => Some(format!(
                "the command has run, but it is not known whether its result ({outcome}) was recorded: halfopen was asked \
                 to end before the store had answered"
            )),
            Made::NotTold { error } => {
                Some(format!("the command has run, but its result ({outcome}) could not be recorded: {error}"))
            }
        }
    }
}

fn too_late(receipt: &Receipt) -> Option<&StaleReason> {
    match &receipt.verdict {
        Verdict::Applied => None,
        Verdict::Stale(why) => Some(why),
    }
}

fn does_not_count(whose: &str, why: &StaleReason) -> String {
    format!("{whose} result came too late and does not count ({why})")
}

/// Makes a report; again and again while the store cannot be reached, until its lease has ended, or without one for a few
/// seconds. `sleep` says whether to go on.
pub fn made(
    mut report: impl FnMut() -> CameTo<Result<Receipt, BreakerError>>,
    lease: Option<Duration>,
    sleep: impl Fn(Duration) -> bool,
) -> Made {
    let started = Instant::now();
    // It may just have been renewed: then it ends so long from now. Reported after its end it is stale.
    let limit = lease.unwrap_or(RETRIED_FOR);
    let mut pause = FIRST_PAUSE;
    let mut before: Option<BreakerError> = None;
    loop {
        let (result, is_last) = match report() {
            CameTo::Done(result) => (result, false),
            CameTo::Interrupted { result: Some(result), .. } => (result, true),
            CameTo::Interrupted { result: None, .. } => return Made::Unanswered,
        };
        let error = match (result, before) {
            (Ok(receipt), None) => return Made::Told(receipt),
            (Ok(receipt), Some(error)) => return Made::ToldLate { receipt, error, took: started.elapsed() },
            (Err(error), _) => error,
        };
        let goes_on = !is_last && may_be_repeated(&error, lease.is_some()) && started.elapsed() < limit;
        if !goes_on || !sleep(pause.mul_f64(0.5 + fastrand::f64() / 2.0)) {
            return Made::NotTold { error };
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
        before = Some(error);
    }
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
    use halfopen::State;
    use rustix::process::Signal;

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
        let told = made(|| CameTo::Done(answers.pop().unwrap()), None, |_| true);
        assert!(matches!(told, Made::ToldLate { .. }), "{told:?}");
        assert!(answers.is_empty());
    }

    #[test]
    fn what_may_have_counted_is_repeated_only_where_it_counts_once() {
        let mut tries = 0;
        let mut report = || {
            tries += 1;
            CameTo::Done(Err(in_doubt()))
        };
        assert!(matches!(made(&mut report, None, |_| true), Made::NotTold { .. }));
        let mut answers = vec![Ok(receipt()), Err(in_doubt())];
        assert!(matches!(made(|| CameTo::Done(answers.pop().unwrap()), LEASE, |_| true), Made::ToldLate { .. }));
        assert_eq!(tries, 1);
    }

    #[test]
    fn what_is_said_of_a_late_result_is_whether_it_counts() {
        let said = |verdict, leased| {
            let receipt = Receipt { verdict, ..receipt() };
            let late = Made::ToldLate { receipt, error: in_doubt(), took: Duration::from_secs(2) };
            late.explained(Outcome::Failure, leased).unwrap()
        };
        for leased in [false, true] {
            assert!(said(Verdict::Applied, leased).contains("the command's result (failure) was recorded 2s late"));
            let stale = said(Verdict::Stale(StaleReason::OldEpoch), leased);
            assert!(
                stale.contains("result came too late and does not count") && !stale.contains("recorded"),
                "{stale}"
            );
        }
        let repeated = said(Verdict::Stale(StaleReason::AlreadyReported), true);
        assert!(repeated.contains("was recorded 2s late"), "the lost answer was to a report that counted: {repeated}");
    }

    #[test]
    fn of_a_result_in_doubt_it_is_said_that_nobody_knows() {
        let said = |error| Made::NotTold { error }.explained(Outcome::Success, false).unwrap();
        assert!(said(in_doubt()).contains("it is not known whether its result (success) was recorded: "));
        assert!(said(unavailable()).contains("its result (success) could not be recorded: "));
    }

    #[test]
    fn who_is_asked_to_end_does_and_after_the_end_of_the_lease_there_is_no_more_trying() {
        let told = made(|| CameTo::Done(Err(unavailable())), LEASE, |_| false);
        assert!(matches!(told, Made::NotTold { .. }), "{told:?}");
        let told = made(|| CameTo::Done(Err(unavailable())), Some(Duration::ZERO), |_| panic!("it goes on"));
        assert!(matches!(told, Made::NotTold { .. }), "{told:?}");
    }

    #[test]
    fn a_signal_in_the_middle_of_a_report_is_the_end_of_the_trying() {
        let made = |result: Option<Result<Receipt, BreakerError>>| {
            let mut answers = vec![CameTo::Interrupted { signal: Signal::INT, result }];
            made(|| answers.pop().unwrap(), LEASE, |_| panic!("it goes on"))
        };
        assert!(matches!(made(Some(Ok(receipt()))), Made::Told(_)));
        assert!(matches!(made(Some(Err(unavailable()))), Made::NotTold { .. }));
        let unanswered = made(None).explained(Outcome::Success, true).unwrap();
        assert!(unanswered.contains("it is not known whether its result (success) was recorded"), "{unanswered}");
    }
}
