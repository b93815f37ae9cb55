//! What is kept of a dependency.

use alloc::string::String;
use alloc::vec::Vec;

use crate::contract::{Policy, State as Kind};
use crate::form::Form;
use crate::policy;
use crate::window::Window;

/// A new record's epoch and tokens start at so many times the version that the store gives for the missing one. One
/// commit raises the version by one and can make several changes of state, yet never so many: what was out of an earlier
/// record stays stale.
const PER_VERSION: u64 = 1_000;

/// All that is kept of one dependency.
#[derive(Clone, Debug, PartialEq)]
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
    /// The instant at which it was last written; none where nothing is kept yet.
    pub written: Option<u64>,
    /// The policy of its own, where it was configured.
    pub policy: Option<Policy>,
    /// The state, with what belongs to it alone.
    pub state: State,
}

/// The state of a breaker.
#[allow(clippy::large_enum_variant, reason = "one of them is in use at a time; a box would cost more than it saves")]
#[derive(Clone, Debug, PartialEq)]
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

    fn describe(&mut self, form: &mut Form) {
        let kind = form.at_most(2, self.kind() as u32);
        if form.reads() {
            *self = match kind {
                0 => State::closed(None, Manner::Plain, &policy::BUILT_IN),
                1 => State::Open { since: 0, wait: Wait::Length(0) },
                _ => State::HalfOpen { since: 0, leases: Vec::new(), successes: 0 },
            };
        }
        match self {
            State::Closed { since, manner, failures_in_row, window } => {
                form.option(since);
                manner.describe(form);
                form.number(failures_in_row);
                window.describe(form);
            }
            State::Open { since, wait } => {
                form.number(since);
                wait.describe(form);
            }
            State::HalfOpen { since, leases, successes } => {
                form.number(since);
                form.number32(successes);
                describe_leases(leases, form);
            }
        }
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Without a ramp.
    Plain,
    /// By probes, with a ramp.
    Ramp,
    /// By an operator: it never trips.
    Forced(Hold),
}

impl Manner {
    fn describe(&mut self, form: &mut Form) {
        let manner = match self {
            Manner::Plain => 0,
            Manner::Ramp => 1,
            Manner::Forced(_) => 2,
        };
        let manner = form.at_most(2, manner);
        if form.reads() {
            *self = match manner {
                0 => Manner::Plain,
                1 => Manner::Ramp,
                _ => Manner::Forced(Hold::EMPTY),
            }
        }
        if let Manner::Forced(hold) = self {
            hold.describe(form);
        }
    }
}

/// What ends an open state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    /// So many ms.
    Length(u64),
    /// An operator, or the end that the operator set.
    Forced(Hold),
}

impl Wait {
    fn describe(&mut self, form: &mut Form) {
        let is_forced = form.flag(matches!(self, Wait::Forced(_)));
        if form.reads() {
            *self = if is_forced { Wait::Forced(Hold::EMPTY) } else { Wait::Length(0) };
        }
        match self {
            Wait::Length(length) => form.number(length),
            Wait::Forced(hold) => hold.describe(form),
        }
    }
}

/// What an operator set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// The instant at which it was set.
    pub since: u64,
    /// It ends so many ms later; none = it lasts.
    pub lasting: Option<u64>,
    /// The operator's note.
    pub note: String,
}

impl Hold {
    const EMPTY: Hold = Hold { since: 0, lasting: None, note: String::new() };

    fn describe(&mut self, form: &mut Form) {
        form.number(&mut self.since);
        form.option(&mut self.lasting);
        form.text(&mut self.note);
    }

    /// The instant at which it ends by itself.
    pub fn end(&self) -> Option<u64> {
        self.lasting.map(|lasting| self.since.saturating_add(lasting))
    }
}

/// The right to probe, for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
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

fn describe_leases(leases: &mut Vec<Lease>, form: &mut Form) {
    let count = form.at_most(u32::MAX, leases.len() as u32);
    for at in 0..count as usize {
        if form.reads() {
            leases.push(Lease { token: 0, caller: String::new(), granted: 0, start: 0, length: 0 });
        }
        let Some(lease) = leases.get_mut(at).filter(|_| form.is_sound()) else { return };
        form.number(&mut lease.token);
        form.text(&mut lease.caller);
        form.number(&mut lease.granted);
        form.number(&mut lease.start);
        form.number(&mut lease.length);
    }
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
            written: None,
            policy: None,
            state: State::closed(None, Manner::Plain, policy),
        }
    }

    /// The numbers that make it up.
    pub fn describe(&mut self, form: &mut Form) {
        form.number(&mut self.epoch);
        form.number(&mut self.last_token);
        form.option(&mut self.settled);
        form.number32(&mut self.level);
        self.opened_before = form.flag(self.opened_before);
        form.option(&mut self.written);
        let has_policy = form.flag(self.policy.is_some());
        if form.reads() {
            self.policy = has_policy.then_some(policy::BUILT_IN);
        }
        if let Some(policy) = &mut self.policy {
            policy::describe(policy, form);
        }
        self.state.describe(form);
    }
}
