//! Group commit: operations that wait while a commit is being written share the next one.
//!
//! The waiting threads do it themselves. Whoever finds nobody at it leads at once; who comes meanwhile queues. When the
//! leader is done it hands on to the first in the queue, who takes all that have queued by then into one commit.

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
    waiting: Vec<Arc<Ticket>>,
}

/// An operation in the queue.
struct Ticket {
    op: Op,
    turn: Mutex<Turn>,
    told: Condvar,
}

enum Turn {
    Waiting,
    /// It is this one's turn to lead.
    Lead,
    Settled(Settled),
}

impl Group {
    /// Settles an operation that wants to write.
    pub fn submit(&self, ground: &Ground<'_>, op: Op, wanted: Wanted) -> Settled {
        let mut queue = lock(&self.queue);
        if !queue.led {
            queue.led = true;
            drop(queue);
            let mut lead = Lead { group: self, batch: Vec::new() };
            if !self.is_wary() {
                if let Some(settled) = ground.write(&op, wanted) {
                    return settled;
                }
                self.wary.store(WARY_FOR, Ordering::Relaxed);
            }
            // Decide again, now with whoever has come meanwhile.
            lead.batch = std::mem::take(&mut lock(&self.queue).waiting);
            return lead.run(ground, &op);
        }
        let ticket = Arc::new(Ticket { op, turn: Mutex::new(Turn::Waiting), told: Condvar::new() });
        queue.waiting.push(ticket.clone());
        drop(queue);
        match ticket.wait() {
            Some(settled) => settled,
            None => {
                let batch = std::mem::take(&mut lock(&self.queue).waiting);
                Lead { group: self, batch }.run(ground, &ticket.op)
            }
        }
    }
}

impl Group {
    fn is_wary(&self) -> bool {
        self.wary.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
    }
}

impl Ticket {
    /// Until it is settled, or has to lead (none).
    fn wait(&self) -> Option<Settled> {
        let mut turn = lock(&self.turn);
        loop {
            match std::mem::replace(&mut *turn, Turn::Waiting) {
                Turn::Waiting => turn = self.told.wait(turn).unwrap_or_else(PoisonError::into_inner),
                Turn::Lead => return None,
                Turn::Settled(settled) => return Some(settled),
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
    /// Runs the leader's own operation and those of the batch, in the order in which they came.
    fn run(mut self, ground: &Ground<'_>, own: &Op) -> Settled {
        let ops: Vec<&Op> = std::iter::once(own).chain(self.batch.iter().map(|ticket| &ticket.op)).collect();
        let mut settled = ground.run(&ops).into_iter();
        let answer = settled.next();
        for (ticket, settled) in self.batch.drain(..).zip(settled) {
            ticket.tell(Turn::Settled(settled));
        }
        answer.unwrap_or_else(abandoned)
    }
}

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        for ticket in self.batch.drain(..) {
            ticket.tell(Turn::Settled(abandoned()));
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

fn abandoned() -> Settled {
    Err(BreakerError::Other("the thread that was writing this operation panicked".to_owned()))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
