//! What is kept of reports that could not be delivered.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::op::Call;
use crate::wire::{Outcome, Permit, Tally};

/// Outcomes of calls without a lease are kept for so long. They are judged as if they had happened when they are
/// delivered, and later than this they would speak of a time that is over.
pub(crate) const KEPT_FOR: Duration = Duration::from_secs(60);

/// Permits that anything is kept for, at most: a stream of ever new names must not fill the memory.
const MOST: usize = 1_024;

/// Runs of outcomes that are kept for one permit, at most.
const MOST_RUNS: usize = 16;

/// Outcomes within so long of each other are as good as simultaneous.
const ONE_RUN: Duration = Duration::from_secs(5);

/// The permit that something is kept for. In this order of fields, so that the older epoch comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Id {
    pub dependency: Arc<str>,
    epoch: u64,
    lease: Option<u64>,
}

/// A report that is to be made, and until when it can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub what: What,
    pub until: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Of one call under a lease.
    Leased { outcome: Outcome, took: Option<u64> },
    /// Of calls without one.
    Tally(Tally),
}

/// All that is kept.
#[derive(Default)]
pub(crate) struct Kept {
    by_permit: BTreeMap<Id, VecDeque<Report>>,
    /// Where it was tried last, so that one that fails for a reason of its own does not hold up the others.
    tried: Option<Id>,
}

impl Id {
    pub fn new(dependency: &Arc<str>, permit: Permit) -> Self {
        Id { dependency: dependency.clone(), epoch: permit.epoch, lease: permit.lease }
    }

    /// Whether it holds a lease: then a report may be repeated, and counts once.
    pub fn is_leased(&self) -> bool {
        self.lease.is_some()
    }

    pub fn call(&self, what: What) -> Call {
        let permit = Permit { epoch: self.epoch, lease: self.lease };
        match what {
            What::Leased { outcome, took } => Call::Report { permit, outcome, took },
            What::Tally(tally) => Call::ReportTally { permit, tally },
        }
    }
}

impl Report {
    /// Of calls without a lease that have just ended.
    pub fn tally(tally: Tally) -> Self {
        Report { what: What::Tally(tally), until: Instant::now() + KEPT_FOR }
    }

    fn is_over(&self) -> bool {
        self.until <= Instant::now()
    }
}

impl Kept {
    pub fn is_empty(&self) -> bool {
        self.by_permit.is_empty()
    }

    /// Keeps a report. It comes back where there is no more room.
    pub fn add(&mut self, id: Id, report: Report) -> Result<(), Report> {
        if self.by_permit.len() >= MOST && !self.by_permit.contains_key(&id) {
            return Err(report);
        }
        let runs = self.by_permit.entry(id).or_default();
        let full = runs.len() >= MOST_RUNS;
        if let (Some(Report { what: What::Tally(last), until }), What::Tally(tally)) = (runs.back_mut(), report.what)
            && (full || runs_on(last, &tally) && *until + ONE_RUN > report.until)
        {
            *last = sum(last, &tally);
            return Ok(());
        }
        runs.push_back(report);
        Ok(())
    }

    /// Puts back what was taken and could not be delivered: it comes before what was added since.
    pub fn put_back(&mut self, id: Id, report: Report) {
        self.by_permit.entry(id).or_default().push_front(report);
    }

    /// Takes the next report out.
    pub fn take(&mut self) -> Option<(Id, Report)> {
        let after = self.tried.take();
        let next = after.and_then(|tried| self.by_permit.range((Excluded(tried), Unbounded)).next());
        let id = next.or_else(|| self.by_permit.first_key_value())?.0.clone();
        self.tried = Some(id.clone());
        self.take_of(id)
    }

    /// Takes the next report of a dependency out.
    pub fn take_for(&mut self, dependency: &str) -> Option<(Id, Report)> {
        let id = self.by_permit.keys().find(|id| *id.dependency == *dependency)?.clone();
        self.take_of(id)
    }

    fn take_of(&mut self, id: Id) -> Option<(Id, Report)> {
        let runs = self.by_permit.get_mut(&id)?;
        let report = runs.pop_front();
        if runs.is_empty() {
            self.by_permit.remove(&id);
        }
        Some((id, report?))
    }

    /// Takes out what can no longer count.
    pub fn take_over(&mut self) -> Vec<(Id, Report)> {
        let mut over = Vec::new();
        self.by_permit.retain(|id, runs| {
            // A lease has one, and of outcomes the older ones end first.
            while let Some(report) = runs.pop_front_if(|report| report.is_over()) {
                over.push((id.clone(), report));
            }
            !runs.is_empty()
        });
        over
    }
}

/// Whether one tally may go on another: in one, the successes come first.
fn runs_on(last: &Tally, tally: &Tally) -> bool {
    last.failures + last.slow_failures == 0 || tally.successes + tally.slow_successes == 0
}

fn sum(one: &Tally, other: &Tally) -> Tally {
    Tally {
        successes: one.successes.saturating_add(other.successes),
        slow_successes: one.slow_successes.saturating_add(other.slow_successes),
        failures: one.failures.saturating_add(other.failures),
        slow_failures: one.slow_failures.saturating_add(other.slow_failures),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILURE: Tally = Tally { successes: 0, slow_successes: 0, failures: 1, slow_failures: 0 };
    const SUCCESS: Tally = Tally { successes: 1, slow_successes: 0, failures: 0, slow_failures: 0 };

    fn id(dependency: &str, epoch: u64) -> Id {
        Id::new(&dependency.into(), Permit { epoch, lease: None })
    }

    fn taken(kept: &mut Kept) -> Vec<What> {
        std::iter::from_fn(|| kept.take()).map(|(_, report)| report.what).collect()
    }

    #[test]
    fn outcomes_are_merged_and_stay_in_their_order() {
        let mut kept = Kept::default();
        for tally in [SUCCESS, FAILURE, FAILURE, SUCCESS, SUCCESS, FAILURE] {
            kept.add(id("a", 1), Report::tally(tally)).unwrap();
        }
        let first = Tally { successes: 1, failures: 2, ..Tally::default() };
        let second = Tally { successes: 2, failures: 1, ..Tally::default() };
        assert_eq!(taken(&mut kept), [What::Tally(first), What::Tally(second)]);
    }

    #[test]
    fn whatever_comes_the_memory_is_bounded_and_no_outcome_of_a_known_permit_is_lost() {
        let mut kept = Kept::default();
        for _ in 0..1_000 {
            kept.add(id("a", 1), Report::tally(FAILURE)).unwrap();
            kept.add(id("a", 1), Report::tally(SUCCESS)).unwrap();
        }
        assert_eq!(kept.by_permit[&id("a", 1)].len(), MOST_RUNS);
        let refused = (0..2 * MOST).filter(|n| kept.add(id(&n.to_string(), 1), Report::tally(FAILURE)).is_err());
        assert_eq!(refused.count(), MOST + 1);
        let failures = taken(&mut kept).into_iter().map(|what| match what {
            What::Tally(tally) => tally.failures,
            What::Leased { .. } => 0,
        });
        assert_eq!(failures.sum::<u64>(), 1_000 + MOST as u64 - 1);
    }

    #[test]
    fn what_is_old_is_neither_merged_with_what_is_new_nor_kept() {
        let mut kept = Kept::default();
        let old = Report { until: Instant::now() + KEPT_FOR - 2 * ONE_RUN, ..Report::tally(FAILURE) };
        kept.add(id("a", 1), old).unwrap();
        kept.add(id("a", 1), Report::tally(FAILURE)).unwrap();
        assert_eq!(kept.by_permit[&id("a", 1)].len(), 2);
        assert!(kept.take_over().is_empty());
        kept.add(id("b", 1), Report { until: Instant::now(), ..old }).unwrap();
        assert_eq!(kept.take_over().into_iter().map(|(id, _)| id).collect::<Vec<_>>(), [id("b", 1)]);
    }

    #[test]
    fn what_fails_again_does_not_hold_up_the_others() {
        let mut kept = Kept::default();
        for name in ["a", "b", "c"] {
            kept.add(id(name, 1), Report::tally(FAILURE)).unwrap();
        }
        let order: Vec<_> = (0..6)
            .map(|_| {
                let (id, report) = kept.take().unwrap();
                kept.put_back(id.clone(), report);
                id.dependency.to_string()
            })
            .collect();
        assert_eq!(order, ["a", "b", "c", "a", "b", "c"]);
    }
}
