//! The outbox: the reports that this process has still to make, in one queue with one thread.
//!
//! Two kinds of entries wait in it:
//!
//! - **Successes** that are counted in memory. A timer of their dependency flushes them after the end of the cached decision;
//!   the next acquire that goes to the store, and the next failure, do so earlier.
//! - **[Pending reports](pending_reports::PendingReport)** that the store could not take. They are retried with one backoff
//!   while they can count. Of those without a lease only those are repeated that surely changed nothing; a report with a
//!   lease counts once however often it is made.
//!
//! The thread starts with the first entry and ends with the host. On a clock that stands still there is none: the next caller
//! does what is due.

mod flush_timers;
mod pending_reports;
mod successes;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use halfopen_contract::engine::Request;
use halfopen_contract::time::Backoff;
use halfopen_contract::types::{Permit, Report, Tally};

use crate::commit::Runner;
use crate::events;
use crate::local_admission::LocalAdmission;
use flush_timers::FlushTimers;
use pending_reports::{Content, PendingReport, PendingReports, ReportKey};

/// The most that closing goes on while the store takes reports. A report that it does not take ends it.
const CLOSING: Duration = Duration::from_secs(5);

/// The longest life of a report; a lease that is longer is cut to it.
const LONGEST: Duration = Duration::from_secs(30 * 86_400);

/// The outbox of a host. See [the module](self).
pub(crate) struct Outbox {
    runner: Arc<Runner>,
    /// None where local admission is off.
    local: Option<Arc<LocalAdmission>>,
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Whether the store has failed a delivery: all that a report reads while the store is fine.
    waiting: AtomicBool,
    /// Whether time passes by itself.
    runs: bool,
}

/// All that waits for the store.
#[derive(Default)]
struct Queue {
    timers: FlushTimers,
    reports: PendingReports,
    /// The pauses between deliveries, since the store has not taken one.
    backoff: Option<Backoff>,
    thread: Option<JoinHandle<()>>,
    closing: bool,
}

impl Outbox {
    /// An empty outbox.
    pub fn new(runner: Arc<Runner>, local: Option<Arc<LocalAdmission>>) -> Self {
        let runs = runner.executor.clock.runs();
        let (queue, wake) = (Mutex::default(), Condvar::new());
        Outbox { runner, local, queue, wake, waiting: AtomicBool::new(false), runs }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a report without a lease is added rather than made: the store is out of reach, or other reports wait.
    pub fn reports_wait(&self) -> bool {
        self.runs && (self.runner.store_backoff.is_paced() || self.waiting.load(Ordering::Relaxed))
    }

    /// Adds outcomes of calls without a lease.
    pub fn add_tally(self: &Arc<Self>, dependency: &Arc<str>, epoch: u64, tally: Tally) {
        let permit = Permit { epoch, lease: None };
        self.add(ReportKey { dependency: dependency.clone(), permit }, PendingReport::tally(tally));
    }

    /// Adds the outcome of a call under a lease that ends in this time at the latest.
    pub fn add_leased(self: &Arc<Self>, dependency: &Arc<str>, permit: Permit, report: Report, ends_in: Duration) {
        let until = Instant::now() + ends_in.min(LONGEST);
        let key = ReportKey { dependency: dependency.clone(), permit };
        self.add(key, PendingReport { content: Content::Leased(report), until });
    }

    fn add(self: &Arc<Self>, key: ReportKey, report: PendingReport) {
        let mut queue = self.queue();
        if let Err(report) = queue.reports.add(key.clone(), report) {
            drop(queue);
            return self.give_up(&key, &report, &"too many reports wait");
        }
        if queue.backoff.is_none() {
            self.set_backoff(&mut queue, Some(Backoff::begin()));
        }
        // Without a thread it waits for the next report, or for the end of the host.
        if self.has_thread(&mut queue) {
            self.wake.notify_one();
        }
    }

    /// Makes the next delivery due: the store has taken a report, so it takes the others too.
    #[inline]
    pub fn retry_now(&self) {
        if self.waiting.load(Ordering::Relaxed)
            && let Some(backoff) = &mut self.queue().backoff
        {
            backoff.make_due();
            self.wake.notify_one();
        }
    }

    fn set_backoff(&self, queue: &mut Queue, backoff: Option<Backoff>) {
        queue.backoff = backoff;
        self.waiting.store(backoff.is_some(), Ordering::Relaxed);
    }

    /// Whether the outbox has a thread, or has one now.
    fn has_thread(self: &Arc<Self>, queue: &mut Queue) -> bool {
        if queue.closing || !self.runs {
            return false;
        }
        if queue.thread.is_none() {
            let outbox = self.clone();
            let thread = std::thread::Builder::new().name("halfopen-outbox".to_owned());
            match thread.spawn(move || outbox.work()) {
                Ok(thread) => queue.thread = Some(thread),
                Err(error) => tracing::warn!(%error, "outcomes are reported by the callers: no thread for it"),
            }
        }
        queue.thread.is_some()
    }

    /// The outbox's thread.
    fn work(self: &Arc<Self>) {
        loop {
            let mut queue = self.queue();
            let over = queue.reports.take_over();
            if queue.reports.is_empty() {
                self.set_backoff(&mut queue, None);
            }
            for (key, report) in over {
                self.give_up(&key, &report, &"it can no longer count");
            }
            if queue.closing {
                return;
            }
            if let Some(timer) = queue.timers.take_due() {
                drop(queue);
                self.flush(&timer.local, timer.snapshot);
                continue;
            }
            let retry = queue.backoff.map_or(Duration::ZERO, |backoff| backoff.wait());
            if retry.is_zero()
                && let Some((key, report)) = queue.reports.take()
            {
                drop(queue);
                self.deliver(key, report);
                continue;
            }
            let retry = (!queue.reports.is_empty()).then_some(retry);
            // A new entry ends the wait.
            match [queue.timers.wait(), retry].into_iter().flatten().min() {
                None => drop(self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner)),
                Some(time) => drop(self.wake.wait_timeout(queue, time).unwrap_or_else(PoisonError::into_inner)),
            }
        }
    }

    /// Delivers a report. Where it may be repeated after a failure, it waits again. Returns whether the store has taken it.
    fn deliver(self: &Arc<Self>, key: ReportKey, report: PendingReport) -> bool {
        let operation = key.operation(report.content.clone());
        let request = Request { dependency: key.dependency.clone(), operation };
        match self.runner.run(&request, None).0 {
            Ok(settled) => {
                self.set_backoff(&mut self.queue(), None);
                events::delivered(&self.runner.executor.records.namespace, &key.dependency);
                if let Some(local) = self.local.as_ref().map(|admission| admission.get(&key.dependency))
                    && let Some(older) = local.learn(&settled)
                {
                    self.report_successes(&local, older, None);
                }
                true
            }
            Err(error) if error.changed_nothing() || key.is_leased() => {
                let mut queue = self.queue();
                queue.reports.put_back(key, report);
                let backoff = queue.backoff.map_or_else(Backoff::begin, |mut backoff| {
                    backoff.again();
                    backoff
                });
                self.set_backoff(&mut queue, Some(backoff));
                false
            }
            Err(error) => {
                self.give_up(&key, &report, &error);
                false
            }
        }
    }

    /// Delivers what waits for a dependency, where no thread does: on a clock that stands still the next caller does.
    pub fn deliver_before(self: &Arc<Self>, dependency: &str) {
        if self.runs {
            return;
        }
        while let Some((key, report)) = { self.queue().reports.take_for(dependency) } {
            if !self.deliver(key, report) {
                return;
            }
        }
    }

    /// Ends the thread, flushes all successes, and delivers what waits, for a bounded time.
    pub fn close(self: &Arc<Self>) {
        let thread = {
            let mut queue = self.queue();
            queue.closing = true;
            self.wake.notify_one();
            queue.thread.take()
        };
        if let Some(thread) = thread {
            // It panics nowhere; if it did, what it has left is delivered here.
            let _ = thread.join();
        }
        for local in self.local.iter().flat_map(|admission| admission.all()) {
            self.flush(&local, None);
        }
        let until = Instant::now() + CLOSING;
        let mut goes_on = true;
        while let Some((key, report)) = { self.queue().reports.take() } {
            goes_on = goes_on && Instant::now() < until;
            if goes_on {
                // A report that waits again comes out again, to be given up.
                goes_on = self.deliver(key, report);
            } else {
                self.give_up(&key, &report, &"the host is closed");
            }
        }
    }

    fn give_up(&self, key: &ReportKey, report: &PendingReport, why: &dyn std::fmt::Display) {
        let (namespace, dependency) = (&*self.runner.executor.records.namespace, &*key.dependency);
        match &report.content {
            Content::Leased(report) => events::probe_dropped(namespace, dependency, report.outcome, why),
            Content::Tally(tally) => events::tally_dropped(namespace, dependency, tally, why),
        }
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
impl Outbox {
    /// Whether no report waits.
    pub fn is_empty(&self) -> bool {
        self.queue().reports.is_empty()
    }
}
