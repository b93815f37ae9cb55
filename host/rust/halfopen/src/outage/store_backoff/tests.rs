use super::*;

fn unavailable() -> StoreError {
    StoreError::Unavailable { place: "test".to_owned(), why: "it is down".to_owned() }
}

fn make_due(backoff: &StoreBackoff) {
    if let Some(Outage { backoff: Some(backoff), .. }) = &mut *backoff.outage() {
        backoff.make_due();
    }
}

#[test]
fn after_a_failure_one_acquire_tries_when_it_is_due() {
    let backoff = StoreBackoff::new(true);
    assert!(backoff.attempt().is_ok() && backoff.attempt().is_ok());
    backoff.failed(&unavailable());
    assert_eq!(backoff.attempt().err(), Some(unavailable()));
    make_due(&backoff);
    let attempt = backoff.attempt().unwrap();
    assert_eq!(backoff.attempt().err(), Some(unavailable()), "one tries");
    drop(attempt);
    assert!(backoff.attempt().is_ok(), "it has failed, and the next one tries");
}

#[test]
fn the_first_answer_ends_the_outage_for_all() {
    let backoff = StoreBackoff::new(true);
    backoff.failed(&unavailable());
    make_due(&backoff);
    let attempt = backoff.attempt().unwrap();
    backoff.end();
    drop(attempt);
    assert!(backoff.error().is_none());
    assert!([backoff.attempt(), backoff.attempt()].iter().all(Result::is_ok));
}

#[test]
fn an_error_that_waiting_does_not_mend_holds_no_acquire_back() {
    let backoff = StoreBackoff::new(true);
    let denied = StoreError::Denied { place: "test".to_owned(), why: "it is read-only".to_owned() };
    backoff.failed(&denied);
    assert!([backoff.attempt(), backoff.attempt()].iter().all(Result::is_ok));
    assert_eq!(backoff.error(), Some(denied), "and it is shown");
}

#[test]
fn on_a_clock_that_stands_still_every_acquire_tries() {
    let backoff = StoreBackoff::new(false);
    backoff.failed(&unavailable());
    assert!([backoff.attempt(), backoff.attempt()].iter().all(Result::is_ok));
}
