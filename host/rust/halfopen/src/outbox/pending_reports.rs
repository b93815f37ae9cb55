use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound::{Excluded, Unbounded};
use std::sync::Arc;
use std::time::{Duration, Instant};

use halfopen_contract::engine::Operation;
use halfopen_contract::types::{Permit, Report, Tally};

/// Outcomes of calls without a lease are kept for this time. They count as if they had happened when they are delivered:
/// later than this they would speak of a time that is over.
const KEPT_FOR: Duration = Duration::from_secs(60);

/// The permit that reports wait for. The older epoch comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReportKey {
    pub dependency: Arc<str>,
    pub permit: Permit,
}

/// A report that waits for the store, and the end of the time in which it can count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PendingReport {
    pub content: Content,
    pub until: Instant,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// The outcome of one call under a lease.
    Leased(Report),
    /// The outcomes of calls without a lease.
    Tally(Tally),
}

impl ReportKey {
    /// Whether it holds a lease: then a report may be repeated, and counts once.
    pub fn is_leased(&self) -> bool {
        self.permit.lease.is_some()
    }

    /// The operation that reports a content.
    pub fn operation(&self, content: Content) -> Operation {
        let permit = self.permit;
        match content {
            Content::Leased(report) => Operation::Report { permit, report },
            Content::Tally(tally) => Operation::ReportTally { permit, tally },
        }
    }
}

impl PendingReport {
    /// The outcomes of calls without a lease that have just ended.
    pub fn tally(tally: Tally) -> Self {
        PendingReport { content: Content::Tally(tally), until: Instant::now() + KEPT_FOR }
    }

    /// Whether it can no longer count.
    pub fn is_over(&self) -> bool {
        self.until <= Instant::now()
    }
}

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
        {
            if *until + SIMULTANEOUS > report.until && last.merge(tally) {
                return Ok(());
            }
            if is_full {
                last.add(tally);
                return Ok(());
            }
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

#[cfg(test)]
mod tests;
