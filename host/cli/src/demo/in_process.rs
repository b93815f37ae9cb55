//! What people use where processes share nothing: a breaker in the memory of one process. It is a fair one: it trips by
//! the same rule as halfopen does in the demo, backs off alike, and lets one probe through at a time. It knows of its own
//! process alone.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::rules;

/// The breaker of one process.
#[derive(Debug, Default)]
pub struct Breaker {
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

/// What a call may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    Call,
    Probe,
}

impl Breaker {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks whether a call may be made now.
    pub fn ask(&self, now: Instant) -> Option<Permission> {
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
            // Too late: the state has changed since.
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

    /// No open window is longer.
    const LONGEST: Duration = rules::OPEN_MAX.saturating_mul(2);

    #[test]
    fn trips_probes_once_and_closes() {
        let breaker = Breaker::default();
        let start = Instant::now();
        for _ in 0..rules::CONSECUTIVE_FAILURES {
            assert_eq!(breaker.ask(start), Some(Permission::Call));
            breaker.report(Permission::Call, false, start);
        }
        assert_eq!(breaker.ask(start), None);
        let due = start + LONGEST;
        assert_eq!(breaker.ask(due), Some(Permission::Probe));
        assert_eq!(breaker.ask(due), None);
        breaker.report(Permission::Call, true, due);
        assert_eq!(breaker.ask(due), None, "a late result changes nothing");
        breaker.report(Permission::Probe, false, due);
        assert_eq!(breaker.ask(due), None);
        assert_eq!(breaker.ask(due + LONGEST), Some(Permission::Probe));
        breaker.report(Permission::Probe, true, due + LONGEST);
        assert_eq!(breaker.ask(due + LONGEST), Some(Permission::Call));
    }
}
