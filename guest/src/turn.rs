//! One operation's look at a record: the record as it counts at this instant, and what the operation changes.

use alloc::vec::Vec;
use core::mem;

use crate::backoff;
use crate::contract::{LostProbe, Policy, Receipt, StaleReason, State as Kind, Transition, TransitionReason, Verdict};
use crate::record::{Lease, Manner, Record, State, Wait};
use crate::window::Window;

/// What becomes of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing is written.
    Keep,
    /// The record and the transitions are written.
    Store,
    /// The record is removed.
    Remove,
}

/// A record at an instant.
pub struct Turn<'a> {
    /// The record: dates after now are taken as now, and an override that has ended is gone.
    pub record: Record,
    /// The present policy.
    pub policy: Policy,
    /// Now.
    pub now: u64,
    /// The changes of state so far, lost probes included.
    pub transitions: Vec<Transition>,
    /// Whether the look itself changed the record.
    pub corrected: bool,
    entropy: &'a mut dyn FnMut() -> u64,
}

impl<'a> Turn<'a> {
    /// Looks at a record.
    pub fn new(record: Record, default: &Policy, now: u64, entropy: &'a mut dyn FnMut() -> u64) -> Turn<'a> {
        let policy = record.policy.unwrap_or(*default);
        let mut turn = Turn { record, policy, now, transitions: Vec::new(), corrected: false, entropy };
        turn.corrected = turn.correct_clock();
        turn.corrected |= turn.end_override();
        turn.fit_window();
        turn
    }

    /// A random number.
    pub fn random(&mut self) -> u64 {
        (self.entropy)()
    }

    /// Makes a change of state.
    pub fn change(&mut self, to: State, reason: TransitionReason) {
        self.record.epoch = self.record.epoch.saturating_add(1);
        self.record.opened_before |= to.kind() == Kind::Open;
        self.note(to.kind(), reason);
        self.record.state = to;
    }

    /// Makes a change of state to open for a window of its backoff level; returns the length of the window.
    pub fn open(&mut self, level: u32, reason: TransitionReason) -> u64 {
        self.record.level = level;
        let length = backoff::length(&self.policy, level, self.entropy);
        self.change(State::Open { since: self.now, wait: Wait::Length(length) }, reason);
        length
    }

    /// Makes a change of state to closed, with nothing counted yet.
    pub fn close(&mut self, manner: Manner, reason: TransitionReason) {
        self.change(State::closed(Some(self.now), manner, &self.policy), reason);
    }

    /// Notes that a lease expired without a report: a transition without a change of epoch.
    pub fn note_lost_probe(&mut self) {
        self.note(Kind::HalfOpen, TransitionReason::ProbeLost);
    }

    fn note(&mut self, to: Kind, reason: TransitionReason) {
        let from = self.record.state.kind();
        self.transitions.push(Transition { from, to, at: self.now, epoch: self.record.epoch, reason });
    }

    /// Whether the next acquire would be granted a lease.
    pub fn probe_due(&self) -> bool {
        match &self.record.state {
            State::Closed { .. } | State::Open { wait: Wait::Forced(_), .. } => false,
            State::Open { since, wait: Wait::Length(length) } => self.now >= since.saturating_add(*length),
            State::HalfOpen { leases, .. } => {
                let live = self.live(leases).count();
                let reopens = live < leases.len() && self.policy.lost_probe == LostProbe::Reopen;
                !reopens && live < self.policy.probes as usize
            }
        }
    }

    /// The instant at which the next probe is due, where that is known.
    pub fn next_due(&self) -> Option<u64> {
        match &self.record.state {
            State::Closed { .. } => None,
            State::Open { wait: Wait::Forced(hold), .. } => hold.end(),
            State::Open { since, wait: Wait::Length(length) } => Some(since.saturating_add(*length)),
            State::HalfOpen { .. } if self.probe_due() => Some(self.now),
            State::HalfOpen { leases, .. } => self
                .live(leases)
                .filter_map(|lease| lease.left(self.now))
                .min()
                .map(|left| self.now.saturating_add(left)),
        }
    }

    /// The leases that have not expired.
    pub fn live<'l>(&self, leases: &'l [Lease]) -> impl Iterator<Item = &'l Lease> + use<'l> {
        let now = self.now;
        leases.iter().filter(move |lease| lease.left(now).is_some())
    }

    /// The receipt of an operation that counted, and its effect.
    pub fn applied(&mut self, effect: Effect) -> (Receipt, Effect) {
        let transitions = match effect {
            Effect::Keep => Vec::new(),
            Effect::Store | Effect::Remove => mem::take(&mut self.transitions),
        };
        (self.receipt(Verdict::Applied, transitions), effect)
    }

    /// The receipt of an operation that changed nothing, and its effect.
    pub fn stale(&mut self, reason: StaleReason) -> (Receipt, Effect) {
        (self.receipt(Verdict::Stale(reason), Vec::new()), Effect::Keep)
    }

    fn receipt(&self, verdict: Verdict, transitions: Vec<Transition>) -> Receipt {
        Receipt {
            verdict,
            state: self.record.state.kind(),
            next_due: self.next_due().into(),
            transitions: transitions.into(),
        }
    }

    /// Takes whatever is dated after now as dated now: so a clock that stepped back delays recovery by one window at most.
    fn correct_clock(&mut self) -> bool {
        let now = self.now;
        let mut corrected = false;
        let mut correct = |instant: &mut u64| {
            if *instant > now {
                *instant = now;
                corrected = true;
            }
        };
        match &mut self.record.state {
            State::Closed { since, manner, window, .. } => {
                since.iter_mut().for_each(&mut correct);
                if let Manner::Forced(hold) = manner {
                    correct(&mut hold.since);
                }
                corrected |= window.correct_clock(now);
            }
            State::Open { since, wait } => {
                correct(since);
                if let Wait::Forced(hold) = wait {
                    correct(&mut hold.since);
                }
            }
            State::HalfOpen { since, leases, .. } => {
                correct(since);
                for lease in leases {
                    correct(&mut lease.granted);
                    correct(&mut lease.start);
                }
            }
        }
        corrected
    }

    fn end_override(&mut self) -> bool {
        let ended = self.record.state.hold().and_then(|hold| hold.end()).is_some_and(|end| self.now >= end);
        if ended {
            self.lift_override(TransitionReason::OverrideEnded);
        }
        ended
    }

    /// Takes back what an operator forced. After open a probe is due at once, in the same epoch: recovery is proven, not
    /// assumed.
    pub fn lift_override(&mut self, reason: TransitionReason) {
        match &mut self.record.state {
            State::Open { wait: wait @ Wait::Forced(_), .. } => *wait = Wait::Length(0),
            State::Closed { manner: Manner::Forced(_), .. } => self.close(Manner::Plain, reason),
            _ => {}
        }
    }

    /// Empties the window where it has another shape than the present policy's: by `configure`, or since the host has
    /// another default now.
    pub fn fit_window(&mut self) {
        if let State::Closed { window, .. } = &mut self.record.state
            && !window.fits(&self.policy.window)
        {
            *window = Window::empty(&self.policy.window);
        }
    }
}
