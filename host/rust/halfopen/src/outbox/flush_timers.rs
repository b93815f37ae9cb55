use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use halfopen_contract::store::Snapshot;

use crate::local_admission::LocalBreaker;

/// The times at which the successes of dependencies are flushed. A dependency has one timer at most: a newer one takes the
/// place of an older.
#[derive(Default)]
pub(super) struct FlushTimers {
    heap: BinaryHeap<Reverse<FlushTimer>>,
    /// The number of timers that were set.
    set: u64,
}

/// The successes of a dependency are to be flushed.
pub(super) struct FlushTimer {
    due: Instant,
    number: u64,
    pub local: Arc<LocalBreaker>,
    /// The record, where it was read a moment ago.
    pub snapshot: Option<Snapshot>,
}

impl FlushTimers {
    /// Sets the timer of a dependency that has counted successes.
    pub fn set(&mut self, local: &Arc<LocalBreaker>, after: Duration, snapshot: Option<Snapshot>) {
        let Some(successes) = local.successes() else { return };
        self.set += 1;
        successes.set_timer(self.set);
        let due = Instant::now() + after;
        self.heap.push(Reverse(FlushTimer { due, number: self.set, local: local.clone(), snapshot }));
    }

    /// Takes a timer out that is due.
    pub fn take_due(&mut self) -> Option<FlushTimer> {
        while self.wait()?.is_zero() {
            let Reverse(timer) = self.heap.pop()?;
            // Another flush, or a newer timer, has taken its place otherwise.
            if timer.local.successes().is_some_and(|successes| successes.is_timer(timer.number)) {
                return Some(timer);
            }
        }
        None
    }

    /// The time until the next timer is due; none where there is no timer.
    pub fn wait(&self) -> Option<Duration> {
        self.heap.peek().map(|Reverse(timer)| timer.due.saturating_duration_since(Instant::now()))
    }
}

impl PartialEq for FlushTimer {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for FlushTimer {}

impl PartialOrd for FlushTimer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FlushTimer {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.due, self.number).cmp(&(other.due, other.number))
    }
}
