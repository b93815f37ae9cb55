//! Group commit: operations that wait while a commit is being written share the next one.
//!
//! The waiting threads do it themselves. Whoever finds nobody at it leads at once; who comes meanwhile joins the next
//! cohort. When a leader is done it hands on to one of that cohort, who takes all that have joined by then into one commit,
//! and then it wakes its own cohort, all at once: by the time they come back, the next commit is on its way to the disk.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::batch::{Ground, Settled, Wanted};
use crate::error::BreakerError;
use crate::op::Op;

#[derive(Default)]
pub(crate) struct Group {
    queue: Mutex<Queue>,
    /// For so many operations more, a leader locks the store before it decides, since others write to it as well: what
    /// was decided before the lock would most likely be out of date.
    wary: AtomicU32,
}

const WARY_FOR: u32 = 32;

#[derive(Default)]
struct Queue {
    led: bool,
    /// Those who wait for their turn; none where nobody does.
    next: Option<Arc<Cohort>>,
}

/// Operations that wait together. Locked after the queue, where both are.
#[derive(Default)]
struct Cohort {
    progress: Mutex<Progress>,
    told: Condvar,
}

#[derive(Default)]
struct Progress {
    stage: Stage,
    /// In the order in which they came.
    ops: Vec<Op>,
    /// Their answers, in the same order.
    settled: Vec<Option<Settled>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Waiting,
    /// It is the turn of these: one of them is to lead.
    Due,
    Led,
    Settled,
}

impl Group {
    /// Settles an operation that wants to write.
    pub fn submit(&self, ground: &Ground<'_>, op: Op, wanted: Wanted) -> Settled {
        let mut queue = lock(&self.queue);
        if queue.led {
            return self.wait(queue, ground, op);
        }
        queue.led = true;
        drop(queue);
        let mut lead = Lead { group: self, cohort: None, handed_on: false };
        if !self.is_wary() {
            if let Some(settled) = ground.write(&op, wanted) {
                return settled;
            }
            self.wary.store(WARY_FOR, Ordering::Relaxed);
        }
        // Decide again, now with whoever has come meanwhile.
        lead.cohort = lock(&self.queue).next.take();
        lead.run(ground, Some(&op)).unwrap_or_else(abandoned)
    }

    /// Settles an operation with the next commit, if one is being written now; otherwise it comes back. What it would
    /// decide on before that will be out of date.
    pub fn join(&self, ground: &Ground<'_>, op: Op) -> Result<Settled, Op> {
        let queue = lock(&self.queue);
        if queue.led { Ok(self.wait(queue, ground, op)) } else { Err(op) }
    }

    /// Waits for the next commit, or leads it.
    fn wait(&self, mut queue: MutexGuard<'_, Queue>, ground: &Ground<'_>, op: Op) -> Settled {
        let cohort = queue.next.get_or_insert_default().clone();
        let mut progress = lock(&cohort.progress);
        let place = progress.ops.len();
        progress.ops.push(op);
        drop(queue);
        loop {
            progress = match progress.stage {
                Stage::Waiting | Stage::Led => cohort.told.wait(progress).unwrap_or_else(PoisonError::into_inner),
                Stage::Due => {
                    progress.stage = Stage::Led;
                    drop(progress);
                    self.lead(ground, &cohort);
                    lock(&cohort.progress)
                }
                Stage::Settled => {
                    return progress.settled.get_mut(place).and_then(Option::take).unwrap_or_else(abandoned);
                }
            };
        }
    }

    fn lead(&self, ground: &Ground<'_>, cohort: &Arc<Cohort>) {
        // Who comes from here on is in the next one.
        lock(&self.queue).next.take_if(|next| Arc::ptr_eq(next, cohort));
        Lead { group: self, cohort: Some(cohort.clone()), handed_on: false }.run(ground, None);
    }

    fn is_wary(&self) -> bool {
        self.wary.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

/// The lead, and those whose operations the leader has taken. Dropped, it answers them and hands on, so that also a panic
/// strands nobody.
struct Lead<'a> {
    group: &'a Group,
    cohort: Option<Arc<Cohort>>,
    handed_on: bool,
}

impl Lead<'_> {
    /// Runs an operation that is in no cohort, and comes first, and those of the cohort in the order in which they came.
    fn run(mut self, ground: &Ground<'_>, own: Option<&Op>) -> Option<Settled> {
        let waiting = self.cohort.iter().flat_map(|cohort| std::mem::take(&mut lock(&cohort.progress).ops));
        let waiting: Vec<Op> = waiting.collect();
        let ops: Vec<&Op> = own.into_iter().chain(&waiting).collect();
        let mut settled = ground.run(&ops).into_iter();
        let answer = own.and_then(|_| settled.next());
        self.hand_on();
        self.tell(settled.map(Some).collect());
        answer
    }

    fn tell(&mut self, settled: Vec<Option<Settled>>) {
        if let Some(cohort) = self.cohort.take() {
            let mut progress = lock(&cohort.progress);
            progress.settled = settled;
            progress.stage = Stage::Settled;
            drop(progress);
            cohort.told.notify_all();
        }
    }

    fn hand_on(&mut self) {
        if std::mem::replace(&mut self.handed_on, true) {
            return;
        }
        let mut queue = lock(&self.group.queue);
        // It stays there until its leader is awake, so that others can still join.
        let Some(next) = queue.next.clone() else {
            queue.led = false;
            return;
        };
        lock(&next.progress).stage = Stage::Due;
        drop(queue);
        next.told.notify_one();
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.tell(Vec::new());
        self.hand_on();
    }
}

fn abandoned() -> Settled {
    Err(BreakerError::Other("the thread that was writing this operation panicked".to_owned()))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
