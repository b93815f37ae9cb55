//! The ranges and invariants of a record that has been read.

use super::{ClosedMode, Details, Lease, OpenEnd, Override, Record, State, Transition};
use crate::text::is_clean;

impl Record {
    /// Whether the rules can have written the record.
    pub(super) fn is_sound(&self) -> bool {
        self.written.is_some()
            && self.settled.is_none_or(|token| token <= self.last_token)
            && self.policy.is_none_or(|policy| policy.is_valid())
            && self.state.is_sound()
            && self.leases().iter().all(|lease| lease.token <= self.last_token)
            && self.last_failure.as_ref().is_none_or(|failure| {
                failure.epoch <= self.epoch && is_clean(&failure.caller) && is_clean(&failure.cause)
            })
            && match &self.last_change {
                Some(change) => change.epoch == self.epoch && change.to == self.state.kind() && change.is_sound(),
                None => true,
            }
            && self.state.since().is_some() == self.last_change.is_some()
    }
}

impl State {
    fn is_sound(&self) -> bool {
        match self {
            State::Closed { mode, window, .. } => {
                let mode_is_sound = match mode {
                    ClosedMode::Plain | ClosedMode::Ramp => true,
                    ClosedMode::Forced(forced) => forced.is_sound(),
                };
                mode_is_sound && window.is_sound()
            }
            State::Open { end: OpenEnd::Forced(forced), .. } => forced.is_sound(),
            State::Open { end: OpenEnd::Length(_), .. } => true,
            State::HalfOpen { leases, .. } => {
                leases.iter().all(Lease::is_sound) && leases.is_sorted_by(|a, b| a.token < b.token)
            }
        }
    }
}

impl Override {
    fn is_sound(&self) -> bool {
        is_clean(&self.by) && is_clean(&self.note)
    }
}

impl Lease {
    fn is_sound(&self) -> bool {
        self.granted <= self.start && is_clean(&self.caller)
    }
}

impl Transition {
    fn is_sound(&self) -> bool {
        let Details { by, note, caller, cause, emptied: _ } = &self.details;
        [by, note, caller, cause].into_iter().all(|text| is_clean(text))
    }
}
