//! The state of a breaker.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::window::{Counts, Window};
use crate::contract;
use crate::policy::Policy;

/// The state of a breaker, with the fields that belong to it alone.
#[allow(clippy::large_enum_variant, reason = "one of them is in use at a time; a box would cost more than it saves")]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// Calls are admitted and counted.
    Closed {
        /// The instant of the change to it; none where there was no change yet.
        since: Option<u64>,
        /// What follows a failure.
        mode: ClosedMode,
        /// Failures in a row.
        failures_in_row: u64,
        /// The outcomes that count.
        window: Window,
    },
    /// Calls are deferred.
    Open {
        /// The instant of the change to it.
        since: u64,
        /// What ends it.
        end: OpenEnd,
    },
    /// Probes are let through.
    HalfOpen {
        /// The instant of the change to it.
        since: u64,
        /// Leases that no report has settled, in the order of their grant.
        leases: Vec<Lease>,
        /// Successful probes.
        successes: u32,
    },
}

/// A state without its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs, reason = "documented at State")]
pub enum StateKind {
    Closed,
    Open,
    HalfOpen,
}

/// How a closed breaker behaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClosedMode {
    /// It admits every call and may trip.
    Plain,
    /// Probes have closed it: while the ramp of the policy lasts it admits a share of the calls.
    Ramp,
    /// An operator has forced it: it never trips.
    Forced(Override),
}

/// The numbers that a closed breaker trips by, as they count at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "documented in the contract")]
pub struct ClosedCounts {
    pub calls: u64,
    pub failures: u64,
    pub slow: u64,
    pub failures_in_row: u64,
}

/// What ends an open state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OpenEnd {
    /// A window of this length, in ms.
    Length(u64),
    /// An operator, or the end that the operator has set.
    Forced(Override),
}

/// A state that an operator has forced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Override {
    /// The instant at which it was set.
    pub since: u64,
    /// It ends by itself this number of ms later; none = it lasts.
    pub lasting: Option<u64>,
    /// The operator; may be empty.
    pub by: String,
    /// The operator's note; may be empty.
    pub note: String,
}

/// The right to probe, for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The fencing token.
    pub token: u64,
    /// The holder; may be empty.
    pub caller: String,
    /// The instant of its grant.
    pub granted: u64,
    /// The instant of its grant or last renewal.
    pub start: u64,
    /// It ends this number of ms after `start`.
    pub length: u64,
}

impl State {
    /// Closed, with nothing counted yet.
    pub fn closed(since: Option<u64>, mode: ClosedMode, policy: &Policy) -> State {
        State::Closed { since, mode, failures_in_row: 0, window: Window::empty(&policy.window) }
    }

    /// Which of the three it is.
    pub fn kind(&self) -> StateKind {
        match self {
            State::Closed { .. } => StateKind::Closed,
            State::Open { .. } => StateKind::Open,
            State::HalfOpen { .. } => StateKind::HalfOpen,
        }
    }

    /// The instant of the change to it; none where there was no change yet.
    pub fn since(&self) -> Option<u64> {
        match self {
            State::Closed { since, .. } => *since,
            State::Open { since, .. } | State::HalfOpen { since, .. } => Some(*since),
        }
    }

    /// What counts at `now`; none unless it is closed.
    pub fn counts(&self, now: u64) -> Option<ClosedCounts> {
        let State::Closed { window, failures_in_row, .. } = self else { return None };
        let Counts { calls, failures, slow } = window.counts(now);
        Some(ClosedCounts { calls, failures, slow, failures_in_row: *failures_in_row })
    }

    /// The override, while there is one.
    pub fn forced(&self) -> Option<&Override> {
        match self {
            State::Closed { mode: ClosedMode::Forced(forced), .. }
            | State::Open { end: OpenEnd::Forced(forced), .. } => Some(forced),
            _ => None,
        }
    }

    /// Takes each instant after `now` as `now`. Returns whether there was one.
    pub(super) fn correct_clock(&mut self, now: u64) -> bool {
        match self {
            State::Closed { since, mode, window, .. } => {
                let mut corrected = since.as_mut().is_some_and(|since| correct(since, now));
                if let ClosedMode::Forced(forced) = mode {
                    corrected |= correct(&mut forced.since, now);
                }
                corrected | window.correct_clock(now)
            }
            State::Open { since, end } => {
                let mut corrected = correct(since, now);
                if let OpenEnd::Forced(forced) = end {
                    corrected |= correct(&mut forced.since, now);
                }
                corrected
            }
            State::HalfOpen { since, leases, .. } => {
                let mut corrected = correct(since, now);
                for lease in leases {
                    corrected |= correct(&mut lease.granted, now) | correct(&mut lease.start, now);
                }
                corrected
            }
        }
    }
}

impl From<StateKind> for contract::State {
    fn from(kind: StateKind) -> contract::State {
        match kind {
            StateKind::Closed => contract::State::Closed,
            StateKind::Open => contract::State::Open,
            StateKind::HalfOpen => contract::State::HalfOpen,
        }
    }
}

impl Override {
    /// The instant at which it ends by itself.
    pub fn end(&self) -> Option<u64> {
        self.lasting.map(|lasting| self.since.saturating_add(lasting))
    }

    /// The ms that are left of it at `now`; none where it lasts.
    pub fn left(&self, now: u64) -> Option<u64> {
        self.end().map(|end| end.saturating_sub(now))
    }
}

impl Lease {
    /// The ms that are left of it at `now`; none once it has expired.
    pub fn left(&self, now: u64) -> Option<u64> {
        match self.start.saturating_add(self.length).saturating_sub(now) {
            0 => None,
            left => Some(left),
        }
    }
}

/// Sets an instant that is after `now` to `now`. Returns whether it was.
fn correct(instant: &mut u64, now: u64) -> bool {
    let is_later = *instant > now;
    *instant = (*instant).min(now);
    is_later
}
