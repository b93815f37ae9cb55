//! Hands over what was counted: with the next look, or shortly after the end of the last one where no call comes.
//!
//! On a clock that runs a thread of its own does that, so that no call waits for a commit. On one that does not (a
//! `ManualClock`), whoever comes next does.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::atomic::Ordering;
use super::{Due, Local};
use crate::error::BreakerError;
use crate::events;
use crate::host::Inner;
use crate::op::{Call, Op};
use crate::store::Snapshot;

/// A call that comes so shortly after the end of a look brings the record along, which saves reading it once more.
const GRACE: Duration = Duration::from_millis(10);

#[derive(Default)]
pub(crate) struct HandOver {
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Default)]
struct Queue {
    thread: Option<JoinHandle<()>>,
    jobs: VecDeque<Job>,
    timers: BinaryHeap<Reverse<Timer>>,
    timers_set: u64,
    closing: bool,
}

struct Job {
    local: Arc<Local>,
    view: Option<Snapshot>,
}

struct Timer {
    at: Instant,
    number: u64,
    local: Arc<Local>,
}

impl Local {
    #[inline]
    pub(super) fn has_timer(&self) -> bool {
        self.timer.load(Ordering::SeqCst) != 0
    }
}

impl Inner {
    /// Hands over what was counted, now and in this thread. `view` is the record as it was read a moment ago.
    pub fn hand_over(self: &Arc<Self>, local: &Local, view: Option<Snapshot>) {
        // First, so that who counts from now on sets a timer of its own.
        local.timer.store(0, Ordering::SeqCst);
        if let Some(due) = local.drain() {
            self.hand_in(local, due, view);
        }
    }

    /// Hands over what was taken out.
    pub fn hand_in(self: &Arc<Self>, local: &Local, due: Due, view: Option<Snapshot>) {
        if self.reports_wait() {
            return self.keep_tally(&local.dependency, due.epoch, due.tally());
        }
        let call = Call::ReportTally { permit: due.permit(), tally: due.tally() };
        match self.perform(Op { dependency: local.dependency.clone(), call }, view).0 {
            Ok(held) => {
                if let Some(older) = local.hear(&held.answer, held.version) {
                    self.hand_in(local, older, None);
                }
            }
            Err(error) => self.keep_counts(&local.dependency, due, &error),
        }
    }

    /// Keeps successes that the store did not take. What may have been counted all the same must not be counted twice.
    pub fn keep_counts(self: &Arc<Self>, dependency: &Arc<str>, due: Due, error: &BreakerError) {
        if error.surely_changed_nothing() {
            events::undelivered(&self.namespace, dependency, error);
            self.keep_tally(dependency, due.epoch, due.tally());
        } else {
            events::unreported(&self.namespace, dependency, error);
        }
    }

    /// Hands over what was counted, elsewhere where that can be.
    pub fn hand_over_soon(self: &Arc<Self>, local: &Arc<Local>, view: Option<Snapshot>) {
        let Some(admission) = self.local.as_ref().filter(|admission| admission.runs) else {
            return self.hand_over(local, view);
        };
        if !local.has_counts() {
            return;
        }
        let mut queue = admission.hand_over.queue();
        if !queue.has_thread(self) {
            drop(queue);
            return self.hand_over(local, view);
        }
        queue.jobs.push_back(Job { local: local.clone(), view });
        admission.hand_over.wake.notify_one();
    }

    /// Sees to it that what was just counted is handed over after the end of the look.
    pub fn arm(self: &Arc<Self>, local: &Arc<Local>) {
        let Some(admission) = &self.local else { return };
        let left = local.left(&*self.clock, admission.lag);
        if !admission.runs {
            if left.is_zero() {
                self.hand_over(local, None);
            }
            return;
        }
        let mut queue = admission.hand_over.queue();
        if local.has_timer() || !queue.has_thread(self) {
            return;
        }
        queue.timers_set += 1;
        let number = queue.timers_set;
        local.timer.store(number, Ordering::SeqCst);
        queue.timers.push(Reverse(Timer { at: Instant::now() + left + GRACE, number, local: local.clone() }));
        admission.hand_over.wake.notify_one();
    }

    /// Hands over all that was counted, and ends the thread.
    pub fn stop_handing_over(self: &Arc<Self>) {
        let Some(admission) = &self.local else { return };
        let thread = {
            let mut queue = admission.hand_over.queue();
            queue.closing = true;
            admission.hand_over.wake.notify_one();
            queue.thread.take()
        };
        if let Some(thread) = thread {
            // It panics nowhere; if it did, what it has left is handed over here.
            let _ = thread.join();
        }
        for local in admission.registry.all() {
            self.hand_over(&local, None);
        }
    }

    fn run_hand_over(self: &Arc<Self>) {
        let Some(admission) = &self.local else { return };
        while let Some(Job { local, view }) = admission.hand_over.next() {
            self.hand_over(&local, view);
        }
    }
}

impl HandOver {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the next job; none at the end.
    fn next(&self) -> Option<Job> {
        let mut queue = self.queue();
        loop {
            if queue.closing {
                return None;
            }
            if let Some(job) = queue.jobs.pop_front() {
                return Some(job);
            }
            let wait = queue.timers.peek().map(|Reverse(timer)| timer.at.saturating_duration_since(Instant::now()));
            queue = match wait {
                None => self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner),
                Some(Duration::ZERO) => {
                    if let Some(Reverse(timer)) = queue.timers.pop()
                        && timer.local.timer.load(Ordering::SeqCst) == timer.number
                    {
                        return Some(Job { local: timer.local, view: None });
                    }
                    queue
                }
                Some(wait) => self.wake.wait_timeout(queue, wait).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }
}

impl Queue {
    /// Whether there is a thread, or there is one now.
    fn has_thread(&mut self, inner: &Arc<Inner>) -> bool {
        if self.closing {
            return false;
        }
        if self.thread.is_none() {
            let inner = inner.clone();
            let thread = std::thread::Builder::new().name("halfopen-handover".to_owned());
            match thread.spawn(move || inner.run_hand_over()) {
                Ok(thread) => self.thread = Some(thread),
                Err(error) => tracing::warn!(%error, "successes are handed over by the callers: no thread for it"),
            }
        }
        self.thread.is_some()
    }
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Timer {}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}
