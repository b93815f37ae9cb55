//! Group commit: operations that wait while a commit is being written share the next one.
//!
//! The waiting threads do it themselves. Whoever finds nobody at it leads at once; who comes meanwhile queues. When the
//! leader is done it hands on to the first in the queue, who takes all that have queued by then into one commit.

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
    waiting: Vec<Arc<Ticket>>,
}

/// An operation in the queue, and the record that it decided on.
struct Ticket {
    op: Op,
    view: Snapshot,
    turn: Mutex<Turn>,
    told: Condvar,
}

enum Turn {
    Waiting,
    /// It is this one's turn to lead.
    Lead,
    Over(CameTo),
}

impl Group {
    /// Writes what an operation wants, alone or with others. Where it has lost a race, others are let by before it comes
    /// again.
    pub fn submit(&self, ground: &Ground<'_>, op: &Op, wanted: Wanted) -> CameTo {
        let mut queue = lock(&self.queue);
        if !queue.led {
            queue.led = true;
            drop(queue);
            let mut lead = Lead { group: self, batch: Vec::new() };
            if self.is_wary() {
                lead.batch = self.waiting();
                return lead.run(ground, op, Some(wanted.view)).0;
            }
            let present = match ground.write(op, wanted) {
                CameTo::Lost(present) => present,
                settled => return settled,
            };
            // Decide again, now with whoever has come meanwhile.
            lead.batch = self.waiting();
            let (came_to, locked) = lead.run(ground, op, present);
            if locked {
                self.wary.store(WARY_FOR, Ordering::Relaxed);
            }
            return came_to;
        }
        let ticket = Arc::new(Ticket {
            op: op.clone(),
            view: wanted.view,
            turn: Mutex::new(Turn::Waiting),
            told: Condvar::new(),
        });
        queue.waiting.push(ticket.clone());
        drop(queue);
        match ticket.wait() {
            Some(came_to) => came_to,
            None => Lead { group: self, batch: self.waiting() }.run(ground, op, Some(ticket.view.clone())).0,
        }
    }

    fn waiting(&self) -> Vec<Arc<Ticket>> {
        std::mem::take(&mut lock(&self.queue).waiting)
    }
}

impl Group {
    fn is_wary(&self) -> bool {
        self.wary.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

impl Ticket {
    /// Until it is over, or has to lead (none).
    fn wait(&self) -> Option<CameTo> {
        let mut turn = lock(&self.turn);
        loop {
            match std::mem::replace(&mut *turn, Turn::Waiting) {
                Turn::Waiting => turn = self.told.wait(turn).unwrap_or_else(PoisonError::into_inner),
                Turn::Lead => return None,
                Turn::Over(came_to) => return Some(came_to),
            }
        }
    }

    fn tell(&self, turn: Turn) {
        *lock(&self.turn) = turn;
        self.told.notify_one();
    }
}

/// The lead, and those whose operations the leader has taken. Dropped, it hands on, so that also a panic strands nobody.
struct Lead<'a> {
    group: &'a Group,
    batch: Vec<Arc<Ticket>>,
}

impl Lead<'_> {
    /// Runs the leader's own operation and those of the batch, in the order in which they came. What became of its own,
    /// and whether the store was locked.
    fn run(mut self, ground: &Ground<'_>, op: &Op, view: Option<Snapshot>) -> (CameTo, bool) {
        let own = Asked { op, view };
        let others = self.batch.iter().map(|ticket| Asked { op: &ticket.op, view: Some(ticket.view.clone()) });
        let batch: Vec<Asked<'_>> = std::iter::once(own).chain(others).collect();
        let Done { came_to, locked } = ground.run(&batch);
        drop(batch);
        let mut came_to = came_to.into_iter();
        let own = came_to.next();
        for (ticket, came_to) in self.batch.drain(..).zip(came_to) {
            ticket.tell(Turn::Over(came_to));
        }
        (own.unwrap_or_else(abandoned), locked)
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        for ticket in self.batch.drain(..) {
            ticket.tell(Turn::Over(abandoned()));
        }
        let mut queue = lock(&self.group.queue);
        if queue.waiting.is_empty() {
            queue.led = false;
            return;
        }
        let next = queue.waiting.remove(0);
        drop(queue);
        next.tell(Turn::Lead);
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
