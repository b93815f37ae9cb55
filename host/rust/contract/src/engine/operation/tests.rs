use super::*;

const PERMIT: Permit = Permit { epoch: 7, lease: None };

fn request(operation: Operation) -> Request {
    Request { dependency: "payments".into(), operation }
}

fn report(permit: Permit, report: impl Into<Report>) -> Request {
    request(Operation::Report { permit, report: report.into() })
}

fn failure(cause: &str, retry_after: Option<u64>) -> Request {
    report(PERMIT, Report { retry_after, ..Report::new(Outcome::Failure).cause(cause) })
}

#[test]
fn failures_that_wait_become_one_tally_with_the_last_cause() {
    let mut first = report(PERMIT, Outcome::Success);
    assert!(first.merge(&failure("refused", None)));
    assert!(first.merge(&report(PERMIT, Report::new(Outcome::Timeout).caller("nightly").cause("late"))));
    let tally = Tally { successes: 1, failures: 2, caller: "nightly".into(), cause: "late".into(), ..Tally::default() };
    assert_eq!(first, request(Operation::ReportTally { permit: PERMIT, tally }));
}

#[test]
fn a_tally_takes_no_report_that_it_would_say_less_of() {
    let leased = Permit { lease: Some(3), ..PERMIT };
    let first = failure("overloaded", Some(30_000));
    for later in [
        report(PERMIT, Outcome::Success),
        report(PERMIT, Outcome::Ignored),
        // Whether it was slow is for the policy to tell.
        report(PERMIT, Report { took: Some(1), ..Outcome::Failure.into() }),
        failure("refused", None),
        failure("overloaded", Some(20_000)),
        report(leased, Outcome::Failure),
        report(Permit { epoch: 8, lease: None }, Outcome::Failure),
        request(Operation::Renew { permit: leased }),
        request(Operation::Acquire { caller: "nightly".into() }),
    ] {
        let mut merged = first.clone();
        assert!(!merged.merge(&later), "{later:?}");
        assert_eq!(merged, first);
    }
    assert!(first.clone().merge(&failure("overloaded", Some(30_000))));
}
