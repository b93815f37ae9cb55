//! A breaker in the memory of one process, as processes that share nothing use it. It is a fair one: it trips and backs off
//! by the rules of halfopen in the demo, and admits one probe at a time. It counts the calls of its own process alone.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::rules;

/// The breaker of one process.
#[derive(Debug, Default)]
pub struct InProcessBreaker {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    state: State,
    level: i32,
}

#[derive(Clone, Copy, Debug)]
enum State {
    Closed { failures: u32 },
    Open { until: Instant },
    Probing,
}

impl Default for State {
    fn default() -> Self {
        State::Closed { failures: 0 }
    }
}

/// The role in which a call is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    Call,
    Probe,
}

impl InProcessBreaker {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a call may be made now.
    pub fn acquire(&self, now: Instant) -> Option<Permission> {
        let mut inner = self.lock();
        match inner.state {
            State::Closed { .. } => Some(Permission::Call),
            State::Open { until } if now >= until => {
                inner.state = State::Probing;
                Some(Permission::Probe)
            }
            State::Open { .. } | State::Probing => None,
        }
    }

    /// Reports how a call ended.
    pub fn report(&self, permission: Permission, success: bool, now: Instant) {
        let mut inner = self.lock();
        match (permission, inner.state, success) {
            (Permission::Probe, State::Probing, true) => {
                *inner = Inner::default();
            }
            (Permission::Probe, State::Probing, false) => {
                inner.level += 1;
                inner.open(now);
            }
            (Permission::Call, State::Closed { .. }, true) => inner.state = State::Closed { failures: 0 },
            (Permission::Call, State::Closed { failures }, false) => {
                inner.state = State::Closed { failures: failures + 1 };
                if failures + 1 >= rules::CONSECUTIVE_FAILURES {
                    inner.open(now);
                }
            }
            // The state has changed since: too late.
            _ => {}
        }
    }
}

impl Inner {
    fn open(&mut self, now: Instant) {
        let length = rules::OPEN.mul_f64(rules::MULTIPLIER.powi(self.level)).min(rules::OPEN_MAX);
        let jitter = length.mul_f64(fastrand::f64() * f64::from(rules::JITTER_PERCENT) / 100.0);
        self.state = State::Open { until: now + length + jitter };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Longer than any open window.
    const LONGEST: Duration = rules::OPEN_MAX.saturating_mul(2);

    #[test]
    fn it_trips_probes_once_and_closes() {
        let breaker = InProcessBreaker::default();
        let start = Instant::now();
        for _ in 0..rules::CONSECUTIVE_FAILURES {
            assert_eq!(breaker.acquire(start), Some(Permission::Call));
            breaker.report(Permission::Call, false, start);
        }
        assert_eq!(breaker.acquire(start), None);
        let due = start + LONGEST;
        assert_eq!(breaker.acquire(due), Some(Permission::Probe));
        assert_eq!(breaker.acquire(due), None);
        breaker.report(Permission::Call, true, due);
        assert_eq!(breaker.acquire(due), None, "a late result changes nothing");
        breaker.report(Permission::Probe, false, due);
        assert_eq!(breaker.acquire(due), None);
        assert_eq!(breaker.acquire(due + LONGEST), Some(Permission::Probe));
        breaker.report(Permission::Probe, true, due + LONGEST);
        assert_eq!(breaker.acquire(due + LONGEST), Some(Permission::Call));
    }
}
