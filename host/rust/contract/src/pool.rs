//! The one pool: objects that are expensive to make, kept for the next operation.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Objects, each used by one operation at a time.
#[derive(Debug)]
pub struct Pool<T> {
    state: Mutex<State<T>>,
    returned: Condvar,
    /// The idle objects that are kept, at most.
    keep: usize,
    /// The operations that may have an object at a time, at most.
    limit: usize,
}

#[derive(Debug)]
struct State<T> {
    idle: Vec<T>,
    in_use: usize,
    /// Counted, since a wake-up without a waiting thread costs a system call.
    waiting: usize,
}

/// An operation's place in a pool, with an idle object where there was one. Dropped, it gives up the place; an object that
/// was taken out and not [put back](Slot::put_back) is not used again.
#[derive(Debug)]
pub struct Slot<'a, T> {
    pool: &'a Pool<T>,
    object: Option<T>,
}

impl<T> Pool<T> {
    /// An empty pool that keeps at most `keep` idle objects and has no limit.
    pub fn new(keep: usize) -> Self {
        let state = State { idle: Vec::new(), in_use: 0, waiting: 0 };
        Pool { state: Mutex::new(state), returned: Condvar::new(), keep, limit: usize::MAX }
    }

    /// Lets operations wait while as many objects as the pool keeps (at least one) are in use.
    pub fn limited(self) -> Self {
        Pool { limit: self.keep.max(1), ..self }
    }

    /// The number of idle objects that are kept, at most.
    pub fn kept(&self) -> usize {
        self.keep
    }

    /// Returns a place in the pool; waits while the limit is reached.
    pub fn acquire(&self) -> Slot<'_, T> {
        let mut state = self.state();
        while state.in_use >= self.limit {
            state.waiting += 1;
            state = self.returned.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        self.slot(state)
    }

    /// Returns a place in the pool; none where the limit is still reached at the given instant.
    pub fn acquire_until(&self, until: Instant) -> Option<Slot<'_, T>> {
        let mut state = self.state();
        while state.in_use >= self.limit {
            let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            state.waiting += 1;
            state = self.returned.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
            state.waiting -= 1;
        }
        Some(self.slot(state))
    }

    /// Takes all idle objects out.
    pub fn take_idle(&self) -> Vec<T> {
        std::mem::take(&mut self.state().idle)
    }

    fn slot<'a>(&'a self, mut state: MutexGuard<'_, State<T>>) -> Slot<'a, T> {
        state.in_use += 1;
        // The last returned first: a single caller always has the same one, and the others grow old.
        Slot { pool: self, object: state.idle.pop() }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Slot<'_, T> {
    /// The idle object, if there was one.
    pub fn take(&mut self) -> Option<T> {
        self.object.take()
    }

    /// Leaves an object to the next operation.
    pub fn put_back(mut self, object: T) {
        self.object = Some(object);
    }
}

impl<T> Drop for Slot<'_, T> {
    fn drop(&mut self) {
        let mut surplus = self.object.take();
        let mut state = self.pool.state();
        if state.idle.len() < self.pool.keep {
            state.idle.extend(surplus.take());
        }
        state.in_use -= 1;
        let is_awaited = state.waiting > 0;
        drop(state);
        if is_awaited {
            self.pool.returned.notify_one();
        }
        // The surplus is dropped here, outside the lock.
    }
}

#[cfg(test)]
mod tests;
