use halfopen::State;

use super::*;

fn receipt() -> Receipt {
    Receipt { verdict: Verdict::Applied, state: State::Closed, next_due: None }
}

fn unavailable() -> BreakerError {
    StoreError::Unavailable { place: "test".to_owned(), why: "away".to_owned() }.into()
}

fn in_doubt() -> BreakerError {
    StoreError::InDoubt { place: "test".to_owned(), why: "away".to_owned() }.into()
}

const LEASE: Option<Duration> = Some(Duration::from_secs(3_600));

#[test]
fn a_report_is_retried_until_the_store_takes_it() {
    let mut answers = vec![Ok(receipt()), Err(unavailable()), Err(unavailable())];
    let delivery = deliver(|| Interruptible::Done(Ok(answers.pop().unwrap())), None, |_| true);
    assert!(matches!(delivery, Delivery::Late { .. }), "{delivery:?}");
    assert!(answers.is_empty());
}

#[test]
fn a_report_in_doubt_is_retried_only_with_a_lease() {
    let mut attempts = 0;
    let attempt = || {
        attempts += 1;
        Interruptible::Done(Ok(Err(in_doubt())))
    };
    assert!(matches!(deliver(attempt, None, |_| true), Delivery::Failed { .. }));
    let mut answers = vec![Ok(receipt()), Err(in_doubt())];
    let delivery = deliver(|| Interruptible::Done(Ok(answers.pop().unwrap())), LEASE, |_| true);
    assert!(matches!(delivery, Delivery::Late { .. }));
    assert_eq!(attempts, 1);
}

#[test]
fn the_message_about_a_late_result_says_whether_it_counts() {
    let message = |verdict, leased| {
        let receipt = Receipt { verdict, ..receipt() };
        let late = Delivery::Late { receipt, error: in_doubt(), took: Duration::from_secs(2) };
        late.explained(Outcome::Failure, leased).unwrap()
    };
    for leased in [false, true] {
        assert!(message(Verdict::Applied, leased).contains("the command's result (failure) was recorded 2s late"));
        let stale = message(Verdict::Stale(StaleReason::OldEpoch), leased);
        assert!(stale.contains("result came too late and does not count") && !stale.contains("recorded"), "{stale}");
    }
    let repeated = message(Verdict::Stale(StaleReason::AlreadyReported), true);
    assert!(repeated.contains("was recorded 2s late"), "the attempt whose answer was lost has counted: {repeated}");
}

#[test]
fn the_message_about_a_result_in_doubt_says_so() {
    let message = |error| Delivery::Failed { error }.explained(Outcome::Success, false).unwrap();
    assert!(message(in_doubt()).contains("it is not known whether its result (success) was recorded: "));
    assert!(message(unavailable()).contains("its result (success) could not be recorded: "));
}

#[test]
fn a_signal_or_the_end_of_the_lease_ends_the_retries() {
    let delivery = deliver(|| Interruptible::Done(Ok(Err(unavailable()))), LEASE, |_| false);
    assert!(matches!(delivery, Delivery::Failed { .. }), "{delivery:?}");
    let attempt = || Interruptible::Done(Ok(Err(unavailable())));
    let delivery = deliver(attempt, Some(Duration::ZERO), |_| panic!("it goes on"));
    assert!(matches!(delivery, Delivery::Failed { .. }), "{delivery:?}");
}

#[test]
fn a_signal_during_a_report_ends_the_retries() {
    let interrupted = |result: Option<Result<Receipt, BreakerError>>| {
        let mut answers = vec![Interruptible::Interrupted { signal: libc::SIGINT, result: result.map(Ok) }];
        deliver(|| answers.pop().unwrap(), LEASE, |_| panic!("it goes on"))
    };
    assert!(matches!(interrupted(Some(Ok(receipt()))), Delivery::AtOnce(_)));
    assert!(matches!(interrupted(Some(Err(unavailable()))), Delivery::Failed { .. }));
    let unanswered = interrupted(None).explained(Outcome::Success, true).unwrap();
    assert!(unanswered.contains("it is not known whether its result (success) was recorded"), "{unanswered}");
}
