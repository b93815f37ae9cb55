use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};
use std::time::Duration;

use halfopen_contract::types::Tally;

use super::pending_report::{Content, PendingReport, ReportKey};

/// The most permits that reports wait for: a stream of ever new names must not fill the memory.
const MOST: usize = 1_024;

/// The most reports that wait for one permit.
const MOST_OF_ONE: usize = 16;

/// Outcomes within this time of each other are as good as simultaneous.
const SIMULTANEOUS: Duration = Duration::from_secs(5);

/// The reports that wait for the store, in their order.
#[derive(Default)]
pub(super) struct PendingReports {
    by_permit: BTreeMap<ReportKey, VecDeque<PendingReport>>,
    /// The permit that was tried last: one that fails for a reason of its own does not hold up the others.
    last_tried: Option<ReportKey>,
}

impl PendingReports {
    pub fn is_empty(&self) -> bool {
        self.by_permit.is_empty()
    }

    /// Adds a report. It comes back where there is no more room.
    pub fn add(&mut self, key: ReportKey, report: PendingReport) -> Result<(), PendingReport> {
        if self.by_permit.len() >= MOST && !self.by_permit.contains_key(&key) {
            return Err(report);
        }
        let reports = self.by_permit.entry(key).or_default();
        let is_full = reports.len() >= MOST_OF_ONE;
        if let (Some(PendingReport { content: Content::Tally(last), until }), Content::Tally(tally)) =
            (reports.back_mut(), &report.content)
            && (is_full || continues(last, tally) && *until + SIMULTANEOUS > report.until)
        {
            add(last, tally);
            return Ok(());
        }
        reports.push_back(report);
        Ok(())
    }

    /// Puts a report back that was taken and could not be delivered: it comes before those that were added since.
    pub fn put_back(&mut self, key: ReportKey, report: PendingReport) {
        self.by_permit.entry(key).or_default().push_front(report);
    }

    /// Takes the next report out.
    pub fn take(&mut self) -> Option<(ReportKey, PendingReport)> {
        let last = self.last_tried.take();
        let next = last.and_then(|last| self.by_permit.range((Excluded(last), Unbounded)).next());
        let key = next.or_else(|| self.by_permit.first_key_value())?.0.clone();
        self.last_tried = Some(key.clone());
        self.take_first(key)
    }

    /// Takes the next report of a dependency out.
    pub fn take_for(&mut self, dependency: &str) -> Option<(ReportKey, PendingReport)> {
        let key = self.by_permit.keys().find(|key| *key.dependency == *dependency)?.clone();
        self.take_first(key)
    }

    fn take_first(&mut self, key: ReportKey) -> Option<(ReportKey, PendingReport)> {
        let reports = self.by_permit.get_mut(&key)?;
        let report = reports.pop_front();
        if reports.is_empty() {
            self.by_permit.remove(&key);
        }
        Some((key, report?))
    }

    /// Takes out the reports that can no longer count.
    pub fn take_over(&mut self) -> Vec<(ReportKey, PendingReport)> {
        let mut over = Vec::new();
        self.by_permit.retain(|key, reports| {
            // A lease has one report, and of outcomes the older ones end first.
            while let Some(report) = reports.pop_front_if(|report| report.is_over()) {
                over.push((key.clone(), report));
            }
            !reports.is_empty()
        });
        over
    }
}

/// Whether one tally may be added to another: within one, the successes come first.
fn continues(last: &Tally, tally: &Tally) -> bool {
    last.failures + last.slow_failures == 0 || tally.successes + tally.slow_successes == 0
}

/// Adds a later tally. The details are those of the last failure.
fn add(sum: &mut Tally, later: &Tally) {
    sum.successes = sum.successes.saturating_add(later.successes);
    sum.slow_successes = sum.slow_successes.saturating_add(later.slow_successes);
    sum.failures = sum.failures.saturating_add(later.failures);
    sum.slow_failures = sum.slow_failures.saturating_add(later.slow_failures);
    if later.failures + later.slow_failures > 0 {
        sum.caller.clone_from(&later.caller);
        sum.cause.clone_from(&later.cause);
        sum.retry_after = later.retry_after;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use halfopen_contract::types::Permit;

    use super::super::pending_report::KEPT_FOR;
    use super::*;

    fn failure(cause: &str) -> Tally {
        Tally { failures: 1, cause: cause.to_owned(), ..Tally::default() }
    }

    fn success() -> Tally {
        Tally { successes: 1, ..Tally::default() }
    }

    fn key(dependency: &str, epoch: u64) -> ReportKey {
        ReportKey::new(&dependency.into(), Permit { epoch, lease: None })
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
}
