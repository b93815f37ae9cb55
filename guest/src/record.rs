//! What is kept of a dependency.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::bindings::halfopen::breaker::types::{Policy, State as Kind};
use crate::policy;
use crate::window::Window;

/// A new record's epoch and tokens start at so many times the version that the store gives for the missing one. One
/// commit raises the version by one and can make several changes of state, yet never so many: what was out of an earlier
/// record stays stale.
const PER_VERSION: u64 = 1_000;

/// All that is kept of one dependency.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Rises by one at every change of state.
    pub epoch: u64,
    /// The highest lease token ever granted.
    pub last_token: u64,
    /// The token of the lease that was settled last: a report of it is a repetition.
    pub settled: Option<u64>,
    /// The backoff level of the last opening.
    pub level: u32,
    /// Whether it has been open since it was made or reset.
    pub opened_before: bool,
    /// The policy of its own, where it was configured.
    pub policy: Option<Policy>,
    /// The state, with what belongs to it alone.
    pub state: State,
}

/// The state of a breaker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum State {
    /// Calls are admitted and counted.
    Closed {
        /// The instant of the change to it; none where there was no change yet.
        since: Option<u64>,
        /// How it came to be closed.
        manner: Manner,
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
        wait: Wait,
    },
    /// Probes are let through.
    HalfOpen {
        /// The instant of the change to it.
        since: u64,
        /// Leases that nobody has settled, in the order of their grant.
        leases: Vec<Lease>,
        /// Successful probes.
        successes: u32,
    },
}

impl State {
    /// Closed, with nothing counted yet.
    pub fn closed(since: Option<u64>, manner: Manner, policy: &Policy) -> State {
        State::Closed { since, manner, failures_in_row: 0, window: Window::empty(&policy.window) }
    }

    /// Which of the three it is.
    pub fn kind(&self) -> Kind {
        match self {
            State::Closed { .. } => Kind::Closed,
            State::Open { .. } => Kind::Open,
            State::HalfOpen { .. } => Kind::HalfOpen,
        }
    }

    /// What an operator forced.
    pub fn hold(&self) -> Option<&Hold> {
        match self {
            State::Closed { manner: Manner::Forced(hold), .. } | State::Open { wait: Wait::Forced(hold), .. } => {
                Some(hold)
            }
            _ => None,
        }
    }
}

/// How a breaker came to be closed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Manner {
    /// Without a ramp.
    Plain,
    /// By probes, with a ramp.
    Ramp,
    /// By an operator: it never trips.
    Forced(Hold),
}

/// What ends an open state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Wait {
    /// So many ms.
    Length(u64),
    /// An operator, or the end that the operator set.
    Forced(Hold),
}

/// What an operator set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The instant at which it was set.
    pub since: u64,
    /// It ends so many ms later; none = it lasts.
    pub lasting: Option<u64>,
    /// The operator's note.
    pub note: String,
}

impl Hold {
    /// The instant at which it ends by itself.
    pub fn end(&self) -> Option<u64> {
        self.lasting.map(|lasting| self.since.saturating_add(lasting))
    }
}

/// The right to probe, for a while.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The fencing token.
    pub token: u64,
    /// Who holds it.
    pub caller: String,
    /// The instant of its grant.
    pub granted: u64,
    /// The instant of its grant or last renewal.
    pub start: u64,
    /// It ends so many ms after `start`.
    pub length: u64,
}

impl Lease {
    /// What is left of it; none once it has expired.
    pub fn left(&self, now: u64) -> Option<u64> {
        match self.start.saturating_add(self.length).saturating_sub(now) {
            0 => None,
            left => Some(left),
        }
    }
}

impl Record {
    /// The record of a dependency of which nothing is kept.
    ///
    /// `version` is the version of the missing record.
    pub fn new(version: u64, policy: &Policy) -> Record {
        let start = version.saturating_mul(PER_VERSION);
        Record {
            epoch: start,
            last_token: start,
            settled: None,
            level: 0,
            opened_before: false,
            policy: None,
            state: State::closed(None, Manner::Plain, policy),
        }
    }

    /// Whether its parts fit together; false for one that nothing of ours wrote.
    pub fn is_sound(&self) -> bool {
        let window_is_sound = match &self.state {
            State::Closed { window, .. } => window.is_sound(),
            _ => true,
        };
        window_is_sound && self.policy.as_ref().is_none_or(|own| policy::faults(own).is_empty())
    }
}
