//! The evaluation of a record at an instant: the record as it counts then, and the changes that the operation makes.

use alloc::vec::Vec;

use super::backoff;
use crate::contract::{Receipt, StaleReason, Verdict};
use crate::policy::{LostProbe, Policy};
use crate::record::window::Window;
use crate::record::{ClosedMode, Details, Lease, OpenEnd, Reason, Record, State, StateKind, Transition};

/// The effect of an operation on the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing is written.
    Keep,
    /// The record and the transitions are written.
    Store,
    /// The record is removed, and the transitions are written.
    Remove,
}

/// A record at an instant.
pub struct Evaluation<'a> {
    /// The record: instants after now are taken as now, and an override that has ended is gone.
    pub record: Record,
    /// Whether the store holds a record, sound or damaged.
    pub is_stored: bool,
    /// The default policy of the host.
    pub default: Policy,
    /// The policy in force.
    pub policy: Policy,
    /// The instant.
    pub now: u64,
    /// The transitions so far.
    pub transitions: Vec<Transition>,
    /// Whether the evaluation itself changed the record.
    pub corrected: bool,
    entropy: &'a mut dyn FnMut() -> u64,
}

impl<'a> Evaluation<'a> {
    /// The evaluation of a record.
    pub fn new(
        record: Record,
        is_stored: bool,
        default: &Policy,
        now: u64,
        entropy: &'a mut dyn FnMut() -> u64,
    ) -> Evaluation<'a> {
        let (default, policy) = (*default, record.policy.unwrap_or(*default));
        let (transitions, corrected) = (Vec::new(), false);
        let mut eval = Evaluation { record, is_stored, default, policy, now, transitions, corrected, entropy };
        eval.corrected = eval.record.correct_clock(now);
        eval.corrected |= eval.end_override();
        eval.fit_window();
        eval
    }

    /// A random number.
    pub fn random(&mut self) -> u64 {
        (self.entropy)()
    }

    /// Makes a change of state.
    pub fn change(&mut self, to: State, reason: Reason, details: Details) {
        self.record.epoch = self.record.epoch.saturating_add(1);
        self.record.opened_before |= to.kind() == StateKind::Open;
        let transition = self.transition(to.kind(), reason, details);
        self.record.last_change = Some(transition.clone());
        self.transitions.push(transition);
        self.record.state = to;
    }

    /// Makes a change of state to open, for a window of a backoff level and of `at_least` ms; returns its length.
    pub fn open(&mut self, level: u32, at_least: u64, reason: Reason, details: Details) -> u64 {
        self.record.level = level;
        let length = backoff::length(&self.policy, level, at_least, self.entropy);
        self.change(State::Open { since: self.now, end: OpenEnd::Length(length) }, reason, details);
        length
    }

    /// Makes a change of state to closed, with nothing counted yet.
    pub fn close(&mut self, mode: ClosedMode, reason: Reason, details: Details) {
        self.change(State::closed(Some(self.now), mode, &self.policy), reason, details);
    }

    /// Notes an entry from the present state to itself.
    pub fn note(&mut self, reason: Reason, details: Details) {
        let transition = self.transition(self.record.state.kind(), reason, details);
        self.transitions.push(transition);
    }

    fn transition(&self, to: StateKind, reason: Reason, details: Details) -> Transition {
        let from = self.record.state.kind();
        Transition { from, to, at: self.now, epoch: self.record.epoch, reason, details }
    }

    /// Whether the next acquire would be granted a lease.
    pub fn probe_due(&self) -> bool {
        match &self.record.state {
            State::Closed { .. } | State::Open { end: OpenEnd::Forced(_), .. } => false,
            State::Open { since, end: OpenEnd::Length(length) } => self.now >= since.saturating_add(*length),
            State::HalfOpen { leases, .. } => {
                let live = self.live_leases().count();
                let reopens = live < leases.len() && self.policy.lost_probe == LostProbe::Reopen;
                !reopens && live < self.policy.probes as usize
            }
        }
    }

    /// The instant at which the next probe is due; none while closed, and while forced without an end.
    pub fn next_due(&self) -> Option<u64> {
        match &self.record.state {
            State::Closed { .. } => None,
            State::Open { end: OpenEnd::Forced(forced), .. } => forced.end(),
            State::Open { since, end: OpenEnd::Length(length) } => Some(since.saturating_add(*length)),
            State::HalfOpen { .. } if self.probe_due() => Some(self.now),
            State::HalfOpen { .. } => {
                let left = self.live_leases().filter_map(|lease| lease.left(self.now)).min();
                left.map(|left| self.now.saturating_add(left))
            }
        }
    }

    /// The leases that have not expired.
    pub fn live_leases(&self) -> impl Iterator<Item = &Lease> {
        self.record.leases().iter().filter(|lease| lease.left(self.now).is_some())
    }

    /// The receipt of an operation that counted.
    pub fn applied(&self) -> Receipt {
        self.receipt(Verdict::Applied)
    }

    /// The receipt of an operation that changed nothing, and that it writes nothing.
    pub fn stale(&self, reason: StaleReason) -> (Receipt, Effect) {
        (self.receipt(Verdict::Stale(reason)), Effect::Keep)
    }

    fn receipt(&self, verdict: Verdict) -> Receipt {
        Receipt { verdict, state: self.record.state.kind().into(), next_due: self.next_due() }
    }

    fn end_override(&mut self) -> bool {
        let ended = self.record.state.forced().filter(|forced| forced.left(self.now) == Some(0));
        let Some(ended) = ended else { return false };
        let details = Details { by: ended.by.clone(), note: ended.note.clone(), ..Details::default() };
        self.lift_override(Reason::OverrideEnded, details);
        true
    }

    /// Takes an override back. After open a probe is due at once, in the same epoch: recovery is proven, not assumed.
    pub fn lift_override(&mut self, reason: Reason, details: Details) {
        match &mut self.record.state {
            State::Open { end: end @ OpenEnd::Forced(_), .. } => {
                *end = OpenEnd::Length(0);
                self.note(reason, details);
            }
            State::Closed { mode: ClosedMode::Forced(_), .. } => self.close(ClosedMode::Plain, reason, details),
            _ => {}
        }
    }

    /// Empties the window where it has another shape than that of the policy in force: after `configure`, or where the host
    /// has another default now.
    pub fn fit_window(&mut self) {
        if let State::Closed { window, .. } = &mut self.record.state
            && !window.fits(&self.policy.window)
        {
            *window = Window::empty(&self.policy.window);
        }
    }
}
