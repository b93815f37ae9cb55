use std::thread::JoinHandle;
use std::time::Duration;

use halfopen_contract::time::Backoff;

use super::flush_timers::{FlushTimer, FlushTimers};
use super::pending_report::{PendingReport, ReportKey};
use super::pending_reports::PendingReports;

/// All that waits for the store.
#[derive(Default)]
pub(super) struct Queue {
    pub timers: FlushTimers,
    pub reports: PendingReports,
    /// The pauses between deliveries, since the store has not taken one.
    pub backoff: Option<Backoff>,
    pub thread: Option<JoinHandle<()>>,
    pub closing: bool,
}

/// The next work of the outbox's thread.
pub(super) enum Work {
    /// Flush the successes of a dependency.
    Flush(FlushTimer),
    /// Deliver a report.
    Deliver(ReportKey, PendingReport),
    /// Wait for at most this time; for a new entry, where it is none.
    Wait(Option<Duration>),
    /// End: the host closes.
    End,
}

impl Queue {
    /// The next work.
    pub fn next(&mut self) -> Work {
        if self.closing {
            return Work::End;
        }
        if let Some(timer) = self.timers.take_due() {
            return Work::Flush(timer);
        }
        let retry = self.backoff.map_or(Duration::ZERO, |backoff| backoff.wait());
        if retry.is_zero()
            && let Some((key, report)) = self.reports.take()
        {
            return Work::Deliver(key, report);
        }
        let retry = (!self.reports.is_empty()).then_some(retry);
        Work::Wait([self.timers.wait(), retry].into_iter().flatten().min())
    }
}
