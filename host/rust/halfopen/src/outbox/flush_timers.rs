use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use halfopen_contract::store::Snapshot;

use crate::local_admission::LocalBreaker;

/// The times at which the successes of dependencies are flushed. A dependency has one timer at most: a newer one takes the
/// place of an older.
#[derive(Default)]
pub(super) struct FlushTimers {
    /// In the order in which they are due; timers of one instant in that of their numbers.
    timers: BTreeMap<(Instant, u64), FlushTimer>,
    /// The number of timers that were set.
    set: u64,
}

/// The successes of a dependency are to be flushed.
pub(super) struct FlushTimer {
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
        self.timers.insert((Instant::now() + after, self.set), FlushTimer { local: local.clone(), snapshot });
    }

    /// Takes a timer out that is due.
    pub fn take_due(&mut self) -> Option<FlushTimer> {
        while self.wait()?.is_zero() {
            let ((_, number), timer) = self.timers.pop_first()?;
            // Another flush, or a newer timer, has taken its place otherwise.
            if timer.local.successes().is_some_and(|successes| successes.timer() == number) {
                return Some(timer);
            }
        }
        None
    }

    /// The time until the next timer is due; none where there is no timer.
    pub fn wait(&self) -> Option<Duration> {
        self.timers.first_key_value().map(|((due, _), _)| due.saturating_duration_since(Instant::now()))
    }
}
