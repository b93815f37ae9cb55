use super::*;

fn failure(cause: &str) -> Tally {
    Tally { failures: 1, cause: cause.to_owned(), ..Tally::default() }
}

fn success() -> Tally {
    Tally { successes: 1, ..Tally::default() }
}

fn key(dependency: &str, epoch: u64) -> ReportKey {
    ReportKey { dependency: dependency.into(), permit: Permit { epoch, lease: None } }
}

fn taken(reports: &mut PendingReports) -> Vec<Tally> {
    let tally = |(_, report): (ReportKey, PendingReport)| match report.content {
        Content::Tally(tally) => tally,
        Content::Leased(report) => panic!("{report:?}"),
    };
    std::iter::from_fn(|| reports.take()).map(tally).collect()
}

#[test]
fn outcomes_are_merged_and_stay_in_their_order() {
    let mut reports = PendingReports::default();
    for tally in [success(), failure("first"), failure("second"), success(), success(), failure("third")] {
        reports.add(key("a", 1), PendingReport::tally(tally)).unwrap();
    }
    let first = Tally { successes: 1, failures: 2, ..failure("second") };
    let second = Tally { successes: 2, ..failure("third") };
    assert_eq!(taken(&mut reports), [first, second]);
}

#[test]
fn memory_is_bounded_and_a_known_permit_loses_no_outcome() {
    let mut reports = PendingReports::default();
    for _ in 0..1_000 {
        reports.add(key("a", 1), PendingReport::tally(failure(""))).unwrap();
        reports.add(key("a", 1), PendingReport::tally(success())).unwrap();
    }
    assert_eq!(reports.by_permit[&key("a", 1)].len(), MOST_OF_ONE);
    let refused =
        (0..2 * MOST).filter(|n| reports.add(key(&n.to_string(), 1), PendingReport::tally(failure(""))).is_err());
    assert_eq!(refused.count(), MOST + 1);
    let failures: u64 = taken(&mut reports).iter().map(|tally| tally.failures).sum();
    assert_eq!(failures, 1_000 + MOST as u64 - 1);
}

#[test]
fn an_old_report_is_neither_merged_with_a_new_one_nor_kept() {
    let mut reports = PendingReports::default();
    let old =
        PendingReport { until: Instant::now() + KEPT_FOR - 2 * SIMULTANEOUS, ..PendingReport::tally(failure("")) };
    reports.add(key("a", 1), old.clone()).unwrap();
    reports.add(key("a", 1), PendingReport::tally(failure(""))).unwrap();
    assert_eq!(reports.by_permit[&key("a", 1)].len(), 2);
    assert!(reports.take_over().is_empty());
    reports.add(key("b", 1), PendingReport { until: Instant::now(), ..old }).unwrap();
    assert_eq!(reports.take_over().into_iter().map(|(key, _)| key).collect::<Vec<_>>(), [key("b", 1)]);
}

#[test]
fn a_report_that_fails_again_does_not_hold_up_the_others() {
    let mut reports = PendingReports::default();
    for name in ["a", "b", "c"] {
        reports.add(key(name, 1), PendingReport::tally(failure(""))).unwrap();
    }
    let order: Vec<_> = (0..6)
        .map(|_| {
            let (key, report) = reports.take().unwrap();
            reports.put_back(key.clone(), report);
            key.dependency.to_string()
        })
        .collect();
    assert_eq!(order, ["a", "b", "c", "a", "b", "c"]);
}
