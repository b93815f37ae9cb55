//! Group commit: operations that wait while a commit is being written share the next one.
//!
//! The waiting threads do it themselves. Whoever finds nobody at it leads at once; who comes meanwhile joins the next
//! cohort. When a leader is done it hands on to one of that cohort, who takes all that have joined by then into one commit,
//! and then it wakes its own cohort, all at once: by the time they come back, the next commit is on its way to the disk.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::batch::{Asked, CameTo, Done, Ground, Wanted};
use crate::error::BreakerError;
use crate::op::Op;
use crate::store::Snapshot;

#[derive(Default)]
pub(crate) struct Group {
    queue: Mutex<Queue>,
    /// For so many operations more, a leader locks the store before it decides, where the store can be locked, since
    /// others write to it as well: what was decided before the lock would most likely be out of date.
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
    waiting: Vec<Waiting>,
    /// What became of them, in the same order.
    came_to: Vec<Option<CameTo>>,
}

/// An operation, and the record that it decided on, if it has looked.
struct Waiting {
    op: Op,
    view: Option<Snapshot>,
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
    /// Writes what an operation wants, alone or with others. Where it has lost a race, others are let by before it comes
    /// again.
    pub fn submit(&self, ground: &Ground<'_>, op: &Op, wanted: Wanted) -> CameTo {
        let mut queue = lock(&self.queue);
        if queue.led {
            return self.wait(queue, ground, Waiting { op: op.clone(), view: Some(wanted.view) });
        }
        queue.led = true;
        drop(queue);
        let mut lead = Lead { group: self, cohort: None, handed_on: false };
        if self.is_wary() {
            lead.cohort = lock(&self.queue).next.take();
            return lead.run(ground, Some(Asked { op, view: Some(wanted.view) })).0;
        }
        let present = match ground.records.write(op, wanted) {
            CameTo::Lost(present) => present,
            settled => return settled,
        };
        // Decide again, now with whoever has come meanwhile.
        lead.cohort = lock(&self.queue).next.take();
        let (came_to, locked) = lead.run(ground, Some(Asked { op, view: present }));
        if locked {
            self.wary.store(WARY_FOR, Ordering::Relaxed);
        }
        came_to
    }

    /// Settles an operation with the next commit, if one is being written now: what it would decide on before that will be
    /// out of date.
    pub fn join(&self, ground: &Ground<'_>, op: &Op) -> Option<CameTo> {
        let queue = lock(&self.queue);
        queue.led.then(|| self.wait(queue, ground, Waiting { op: op.clone(), view: None }))
    }

    /// Waits for the next commit, or leads it.
    fn wait(&self, mut queue: MutexGuard<'_, Queue>, ground: &Ground<'_>, waiting: Waiting) -> CameTo {
        let cohort = queue.next.get_or_insert_default().clone();
        let mut progress = lock(&cohort.progress);
        let place = progress.waiting.len();
        progress.waiting.push(waiting);
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
                    return progress.came_to.get_mut(place).and_then(Option::take).unwrap_or_else(abandoned);
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
    /// What became of the first, and whether the store was locked.
    fn run(mut self, ground: &Ground<'_>, own: Option<Asked<'_>>) -> (CameTo, bool) {
        let waiting = self.cohort.iter().flat_map(|cohort| std::mem::take(&mut lock(&cohort.progress).waiting));
        let waiting: Vec<Waiting> = waiting.collect();
        let is_own = own.is_some();
        let others = waiting.iter().map(|waiting| Asked { op: &waiting.op, view: waiting.view.clone() });
        let Done { came_to, locked } = ground.run(&own.into_iter().chain(others).collect::<Vec<_>>());
        let mut came_to = came_to.into_iter();
        let first = if is_own { came_to.next() } else { None };
        self.hand_on();
        self.tell(came_to.map(Some).collect());
        (first.unwrap_or_else(abandoned), locked)
    }

    fn tell(&mut self, came_to: Vec<Option<CameTo>>) {
        if let Some(cohort) = self.cohort.take() {
            let mut progress = lock(&cohort.progress);
            progress.came_to = came_to;
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

fn abandoned() -> CameTo {
    CameTo::Settled(Err(BreakerError::Other("the thread that was writing this operation panicked".to_owned())))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
