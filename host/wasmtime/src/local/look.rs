//! What the component said last, for as long as it said.

use std::time::Duration;

use crate::clock::Clock;
use crate::sent::Sent;
use crate::wire::{Admission, Decision, DeferReason, Deferral, Permit};

/// An answer of `acquire`, as far as it speaks of further calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    pub says: Says,
    /// When it was asked for.
    pub sent: Sent,
    /// It holds for so many ms from then.
    pub fresh_for: u64,
}

/// What to do with further calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Says {
    /// Ask.
    Nothing,
    /// Admit them.
    Admit(Terms),
    /// Admit a part of them, by drawing, and defer the others: until the next look, where nothing else was said.
    Draw(Terms, Option<Refusal>),
    /// Defer them.
    Refuse(Refusal),
}

/// What calls are admitted under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    pub epoch: u64,
    pub percent: u32,
    pub slower_than: Option<u64>,
}

/// What calls are deferred with. A reason of a later version is not among them: it is asked for each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub retry_after: u64,
    pub spread: u64,
    pub reason: Reason,
}

/// A [`DeferReason`] in a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Reason {
    Open,
    Probing,
    ForcedOpen,
    Ramping,
}

impl Look {
    /// Nothing was said, or it no longer holds.
    pub const NONE: Look = Look { says: Says::Nothing, sent: Sent { now: 0, monotonic: Duration::ZERO }, fresh_for: 0 };

    /// What an answer says of further calls.
    pub fn of(decision: &Decision, sent: Sent) -> Look {
        let (says, fresh_for) = match decision {
            Decision::Proceed(admission) if admission.percent >= 100 => {
                (Says::Admit(Terms::of(admission)), admission.fresh_for)
            }
            Decision::Proceed(admission) => (Says::Draw(Terms::of(admission), None), admission.fresh_for),
            Decision::Defer(deferral) => {
                let says = match (Refusal::of(deferral), &deferral.admission) {
                    (None, _) => Says::Nothing,
                    (Some(refusal), None) => Says::Refuse(refusal),
                    (Some(refusal), Some(admission)) => Says::Draw(Terms::of(admission), Some(refusal)),
                };
                // Once the wait is over there is no rest of it to defer with.
                let counts_down = Refusal::of(deferral).is_some_and(|refusal| refusal.reason.counts_down());
                (says, if counts_down { deferral.fresh_for.min(deferral.retry_after) } else { deferral.fresh_for })
            }
            Decision::Probe(_) => (Says::Nothing, 0),
        };
        Look { says: if fresh_for == 0 { Says::Nothing } else { says }, sent, fresh_for }
    }

    /// What it admits under, where it admits any.
    pub fn terms(&self) -> Option<&Terms> {
        match &self.says {
            Says::Admit(terms) | Says::Draw(terms, _) => Some(terms),
            Says::Nothing | Says::Refuse(_) => None,
        }
    }

    /// Whether further calls are answered by it, without asking.
    pub fn answers(&self) -> bool {
        self.says != Says::Nothing
    }

    /// How long ago it was asked for, in ms, while it holds; none where it no longer does.
    ///
    /// It ends by whichever clock says so first; also when the wall clock has stepped back before it.
    pub fn age(&self, clock: &dyn Clock, lag: Duration) -> Option<u64> {
        let end = Duration::from_millis(self.fresh_for);
        let glance = clock.glance();
        let since = |now: u64, monotonic: Duration| {
            let wall = Duration::from_millis(now.checked_sub(self.sent.now)?);
            Some(monotonic.saturating_sub(self.sent.monotonic).max(wall))
        };
        let age = match since(glance.now, glance.monotonic) {
            Some(age) if age + lag < end => age,
            // Near its end, and just after it began, by the exact times.
            _ if lag.is_zero() => since(glance.now, glance.monotonic)?,
            _ => since(clock.now(), clock.monotonic())?,
        };
        (age < end).then_some(age.as_millis() as u64)
    }

    /// The deferral of one further call, with what is left of it by now; `refusal` is what was said of such calls.
    pub fn deferral(&self, refusal: Option<&Refusal>, age: u64) -> Deferral {
        let fresh_for = self.fresh_for.saturating_sub(age);
        let admission = self.terms().map(|terms| Admission {
            permit: Permit { epoch: terms.epoch, lease: None },
            fresh_for,
            percent: terms.percent,
            slower_than: terms.slower_than,
        });
        // Nothing was said of how long those wait who lose the draw: the next look says more, and they need not all come
        // at once.
        let until_next_look = Refusal { retry_after: self.fresh_for, spread: fresh_for, reason: Reason::Ramping };
        let passed = if refusal.is_none_or(|refusal| refusal.reason.counts_down()) { age } else { 0 };
        let Refusal { retry_after, spread, reason } = *refusal.unwrap_or(&until_next_look);
        Deferral {
            retry_after: retry_after.saturating_sub(passed).max(1),
            spread,
            reason: reason.into(),
            fresh_for,
            admission,
        }
    }
}

impl Terms {
    fn of(admission: &Admission) -> Terms {
        let Admission { permit, percent, slower_than, .. } = *admission;
        Terms { epoch: permit.epoch, percent, slower_than }
    }

    /// Whether a call that took so long is slow.
    pub fn is_slow(slower_than: Option<Duration>, took: Option<Duration>) -> bool {
        matches!((slower_than, took), (Some(limit), Some(took)) if took >= limit)
    }
}

impl Refusal {
    fn of(deferral: &Deferral) -> Option<Refusal> {
        let reason = match deferral.reason {
            DeferReason::Open => Reason::Open,
            DeferReason::Probing => Reason::Probing,
            DeferReason::ForcedOpen => Reason::ForcedOpen,
            DeferReason::Ramping => Reason::Ramping,
            DeferReason::Other(_) => return None,
        };
        Some(Refusal { retry_after: deferral.retry_after, spread: deferral.spread, reason })
    }
}

impl Reason {
    /// Whether the wait ends at an instant, so that less of it is left from call to call. The others are told a length of
    /// time, counted from each call.
    fn counts_down(self) -> bool {
        matches!(self, Reason::Open | Reason::Probing)
    }
}

impl From<Reason> for DeferReason {
    fn from(reason: Reason) -> Self {
        match reason {
            Reason::Open => DeferReason::Open,
            Reason::Probing => DeferReason::Probing,
            Reason::ForcedOpen => DeferReason::ForcedOpen,
            Reason::Ramping => DeferReason::Ramping,
        }
    }
}
