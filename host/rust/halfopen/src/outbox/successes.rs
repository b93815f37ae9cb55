use std::sync::Arc;
use std::time::Duration;

use halfopen_contract::BreakerError;
use halfopen_contract::engine::{Operation, Request};
use halfopen_contract::store::Snapshot;

use super::Outbox;
use crate::events;
use crate::local_admission::{DueSuccesses, LocalBreaker};

/// A call that comes within this time of the end of a decision brings the record along, which saves a load.
const GRACE: Duration = Duration::from_millis(10);

impl Outbox {
    /// Flushes the successes of a dependency, now and on this thread. `snapshot` is the record, where it was read a moment
    /// ago.
    pub fn flush(self: &Arc<Self>, local: &LocalBreaker, snapshot: Option<Snapshot>) {
        if let Some(due) = local.flush() {
            self.report_successes(local, due, snapshot);
        }
    }

    /// Flushes the successes of a dependency, on the outbox's thread where there is one.
    pub fn flush_soon(self: &Arc<Self>, local: &Arc<LocalBreaker>, snapshot: Option<Snapshot>) {
        if !local.has_successes() {
            return;
        }
        let mut queue = self.queue();
        if self.has_thread(&mut queue) {
            queue.timers.set(local, Duration::ZERO, snapshot);
            return self.wake.notify_one();
        }
        drop(queue);
        self.flush(local, snapshot);
    }

    /// Sets a timer that flushes the successes of a dependency after the end of its cached decision.
    pub fn set_timer(self: &Arc<Self>, local: &Arc<LocalBreaker>) {
        let left = local.left(&*self.runner.executor.clock);
        if !self.runs && left.is_zero() {
            return self.flush(local, None);
        }
        let mut queue = self.queue();
        let has_timer = local.successes().is_some_and(|successes| successes.timer() != 0);
        if !has_timer && self.has_thread(&mut queue) {
            queue.timers.set(local, left + GRACE, None);
            self.wake.notify_one();
        }
    }

    /// Reports successes that were taken out of their counter.
    pub fn report_successes(self: &Arc<Self>, local: &LocalBreaker, due: DueSuccesses, snapshot: Option<Snapshot>) {
        if self.reports_wait() {
            return self.add_tally(&local.dependency, due.epoch, due.tally());
        }
        let operation = Operation::ReportTally { permit: due.permit(), tally: due.tally() };
        let request = Request { dependency: local.dependency.clone(), operation };
        match self.runner.run(&request, snapshot).0 {
            Ok(settled) => {
                self.retry_now();
                if let Some(older) = local.learn(&settled) {
                    self.report_successes(local, older, None);
                }
            }
            Err(error) => self.keep_successes(&local.dependency, due, &error),
        }
    }

    /// Keeps successes that the store did not take. Successes that it may have counted must not be counted twice.
    pub fn keep_successes(self: &Arc<Self>, dependency: &Arc<str>, due: DueSuccesses, error: &BreakerError) {
        if error.changed_nothing() {
            events::postponed(&self.runner.executor.records.namespace, dependency, error);
            self.add_tally(dependency, due.epoch, due.tally());
        } else {
            events::unreported(&self.runner.executor.records.namespace, dependency, error);
        }
    }
}
