//! Reports that the store could not take: kept, and made again while they can count.
//!
//! A thread does that, which is there only as long as there is something to deliver. On a clock that stands still whoever
//! comes next to the dependency does it. Of what has no lease, only that is made again which surely changed nothing; a
//! report with a lease counts once however often it is made.

mod kept;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::backoff::Backoff;
use crate::error::BreakerError;
use crate::events;
use crate::host::Inner;
use crate::op::Op;
use crate::wire::{Outcome, Permit, Tally};
use kept::Kept;
pub(crate) use kept::{Id, Report, What};

/// How long the last attempt, when the host closes, goes on while the store takes what it is given. One that fails ends it.
const LAST_ATTEMPT: Duration = Duration::from_secs(5);

pub(crate) struct Undelivered {
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Whether something waits: all that others look at while the store is fine.
    waiting: AtomicBool,
    /// Whether time passes by itself.
    runs: bool,
}

#[derive(Default)]
struct Queue {
    kept: Kept,
    /// Since the store has not taken a report.
    backoff: Option<Backoff>,
    thread: Option<JoinHandle<()>>,
    closing: bool,
}

impl Undelivered {
    pub fn new(runs: bool) -> Self {
        Undelivered { queue: Mutex::default(), wake: Condvar::new(), waiting: AtomicBool::new(false), runs }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The store has taken a report: it takes the others too.
    #[inline]
    pub fn hurry(&self) {
        if self.waiting.load(Ordering::Relaxed)
            && let Some(backoff) = &mut self.queue().backoff
        {
            backoff.hurry();
            self.wake.notify_one();
        }
    }

    /// Waits until a report is due; none where there are no more, or at the end.
    fn next(&self, inner: &Inner) -> Option<(Id, Report)> {
        let mut queue = self.queue();
        loop {
            for (id, report) in queue.kept.take_over() {
                inner.gave_up(&id, &report, "it can no longer count");
            }
            if queue.closing {
                return None;
            }
            if queue.kept.is_empty() {
                self.set_backoff(&mut queue, None);
                queue.thread = None;
                return None;
            }
            let wait = queue.backoff.map_or(Duration::ZERO, |backoff| backoff.wait());
            if wait.is_zero() {
                return queue.kept.take();
            }
            queue = self.wake.wait_timeout(queue, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn delivered(&self) {
        self.set_backoff(&mut self.queue(), None);
    }

    fn set_backoff(&self, queue: &mut Queue, backoff: Option<Backoff>) {
        queue.backoff = backoff;
        self.waiting.store(backoff.is_some(), Ordering::Relaxed);
    }

    fn failed(&self, id: Id, report: Report) {
        let mut queue = self.queue();
        queue.kept.put_back(id, report);
        let backoff = queue.backoff.map_or_else(Backoff::begin, |mut backoff| {
            backoff.again();
            backoff
        });
        self.set_backoff(&mut queue, Some(backoff));
    }
}

impl Inner {
    /// Whether a report without a lease is better kept than made: the store is out of reach, or others wait before it.
    pub fn reports_wait(&self) -> bool {
        self.undelivered.runs && (self.outage.is_paced() || self.undelivered.waiting.load(Ordering::Relaxed))
    }

    /// Keeps outcomes of calls without a lease.
    pub fn keep_tally(self: &Arc<Self>, dependency: &Arc<str>, epoch: u64, tally: Tally) {
        self.keep(Id::new(dependency, Permit { epoch, lease: None }), Report::tally(tally));
    }

    /// Keeps the outcome of a call under a lease, which ends in so long at the latest.
    pub fn keep_leased(
        self: &Arc<Self>,
        dependency: &Arc<str>,
        permit: Permit,
        (outcome, took): (Outcome, Option<u64>),
        ends_in: Duration,
    ) {
        // A length beyond the end of time is cut.
        let until = Instant::now() + ends_in.min(Duration::from_secs(30 * 86_400));
        self.keep(Id::new(dependency, permit), Report { what: What::Leased { outcome, took }, until });
    }

    fn keep(self: &Arc<Self>, id: Id, report: Report) {
        let mut queue = self.undelivered.queue();
        if let Err(report) = queue.kept.add(id.clone(), report) {
            drop(queue);
            return self.gave_up(&id, &report, "too many others wait");
        }
        if queue.backoff.is_none() {
            self.undelivered.set_backoff(&mut queue, Some(Backoff::begin()));
        }
        if queue.thread.is_none() && !queue.closing && self.undelivered.runs {
            let inner = self.clone();
            let thread = std::thread::Builder::new().name("halfopen-reports".to_owned());
            match thread.spawn(move || inner.run_deliveries()) {
                Ok(thread) => queue.thread = Some(thread),
                // The next report tries again.
                Err(error) => tracing::warn!(%error, "reports wait for the end of the host: no thread for them"),
            }
        }
    }

    fn run_deliveries(self: &Arc<Self>) {
        while let Some((id, report)) = self.undelivered.next(self) {
            let _ = self.deliver(id, report);
        }
    }

    /// Makes a report once more; where it may be made again, it is kept.
    fn deliver(self: &Arc<Self>, id: Id, report: Report) -> Result<(), ()> {
        match self.report(&id.dependency, id.call(report.what)) {
            Ok(()) => {
                self.undelivered.delivered();
                events::delivered(&self.namespace, &id.dependency);
                Ok(())
            }
            Err(error) if error.surely_changed_nothing() || id.is_leased() => {
                self.undelivered.failed(id, report);
                Err(())
            }
            Err(error) => {
                self.gave_up(&id, &report, error);
                Err(())
            }
        }
    }

    /// Makes a report, and heeds what the answer says of the state.
    fn report(self: &Arc<Self>, dependency: &Arc<str>, call: crate::op::Call) -> Result<(), BreakerError> {
        let held = self.perform(Op { dependency: dependency.clone(), call }, None).0?;
        if let Some(local) = self.local.as_ref().map(|admission| admission.of(dependency))
            && let Some(older) = local.hear(&held.answer, held.version)
        {
            self.hand_in(&local, older, None);
        }
        Ok(())
    }

    /// On a clock that stands still, whoever comes to a dependency delivers what waits for it.
    pub fn deliver_before(self: &Arc<Self>, dependency: &str) {
        if self.undelivered.runs {
            return;
        }
        while let Some((id, report)) = { self.undelivered.queue().kept.take_for(dependency) } {
            if self.deliver(id, report).is_err() {
                return;
            }
        }
    }

    /// Ends the thread. What it has left is kept.
    pub fn stop_deliveries(&self) {
        let thread = {
            let mut queue = self.undelivered.queue();
            queue.closing = true;
            self.undelivered.wake.notify_one();
            queue.thread.take()
        };
        if let Some(thread) = thread {
            // It panics nowhere; if it did, the rest would be delivered all the same.
            let _ = thread.join();
        }
    }

    /// The last attempt: as long as the store takes what it is given, and not for ever.
    pub fn deliver_at_last(self: &Arc<Self>) {
        let until = Instant::now() + LAST_ATTEMPT;
        let mut goes_on = true;
        while let Some((id, report)) = { self.undelivered.queue().kept.take() } {
            goes_on = goes_on && Instant::now() < until;
            if !goes_on {
                self.gave_up(&id, &report, "the host is closed");
                continue;
            }
            // What is put back comes out again, to be given up.
            goes_on = self.deliver(id, report).is_ok();
        }
    }

    fn gave_up(&self, id: &Id, report: &Report, why: impl std::fmt::Display) {
        events::gave_up(&self.namespace, &id.dependency, &report.what, &why);
    }
}

#[cfg(test)]
mod tests;
