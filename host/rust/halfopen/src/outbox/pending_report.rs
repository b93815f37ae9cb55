use std::sync::Arc;
use std::time::{Duration, Instant};

use halfopen_contract::engine::Operation;
use halfopen_contract::types::{Permit, Report, Tally};

/// Outcomes of calls without a lease are kept for this time. They count as if they had happened when they are delivered:
/// later than this they would speak of a time that is over.
pub(super) const KEPT_FOR: Duration = Duration::from_secs(60);

/// The permit that reports wait for. In this order of fields, so that the older epoch comes first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ReportKey {
    pub dependency: Arc<str>,
    epoch: u64,
    lease: Option<u64>,
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
    pub fn new(dependency: &Arc<str>, permit: Permit) -> Self {
        ReportKey { dependency: dependency.clone(), epoch: permit.epoch, lease: permit.lease }
    }

    /// Whether it holds a lease: then a report may be repeated, and counts once.
    pub fn is_leased(&self) -> bool {
        self.lease.is_some()
    }

    /// The operation that reports a content.
    pub fn operation(&self, content: Content) -> Operation {
        let permit = Permit { epoch: self.epoch, lease: self.lease };
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
