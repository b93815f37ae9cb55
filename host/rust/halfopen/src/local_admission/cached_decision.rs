//! The last decision on a dependency, for the time that it holds.

use std::time::Duration;

use halfopen_contract::time::{Clock, Reading};
use halfopen_contract::types::{Admission, Decision, DeferReason, Deferral, Permit};

/// An answer of `acquire`, as far as it speaks of further calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CachedDecision {
    pub further: FurtherCalls,
    /// The time of its request.
    pub request_time: Reading,
    /// It holds for this many ms from then.
    pub fresh_for: u64,
}

/// The decision on further calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FurtherCalls {
    /// Each runs an acquire.
    Acquire,
    /// They are admitted.
    Admit(AdmissionTerms),
    /// A share of them is admitted, the others are deferred: where no refusal was given, until this decision ends.
    Sample(AdmissionTerms, Option<Refusal>),
    /// They are deferred.
    Refuse(Refusal),
}

/// The terms that calls are admitted under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AdmissionTerms {
    pub epoch: u64,
    pub percent: u32,
    pub slower_than: Option<u64>,
}

/// The deferral of further calls. A reason of a later version is not among them: such calls run an acquire each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub retry_after: u64,
    pub spread: u64,
    pub reason: RefusalReason,
}

/// A [`DeferReason`] in a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum RefusalReason {
    Open,
    Probing,
    ForcedOpen,
    Ramping,
}

impl CachedDecision {
    /// No decision, or one that no longer holds.
    pub const NONE: CachedDecision = CachedDecision {
        further: FurtherCalls::Acquire,
        request_time: Reading { now: 0, monotonic: Duration::ZERO },
        fresh_for: 0,
    };

    /// A decision, as far as it speaks of further calls.
    pub fn of(decision: &Decision, request_time: Reading) -> CachedDecision {
        let (further, fresh_for) = match decision {
            Decision::Proceed(admission) if admission.percent >= 100 => {
                (FurtherCalls::Admit(AdmissionTerms::of(admission)), admission.fresh_for)
            }
            Decision::Proceed(admission) => {
                (FurtherCalls::Sample(AdmissionTerms::of(admission), None), admission.fresh_for)
            }
            Decision::Defer(deferral) => {
                let refusal = Refusal::of(deferral);
                // Once the wait is over there is nothing left to defer with.
                let counts_down = refusal.is_some_and(|refusal| refusal.reason.counts_down());
                let fresh_for =
                    if counts_down { deferral.fresh_for.min(deferral.retry_after) } else { deferral.fresh_for };
                let further = match (refusal, &deferral.admission) {
                    (None, _) => FurtherCalls::Acquire,
                    (Some(refusal), None) => FurtherCalls::Refuse(refusal),
                    (Some(refusal), Some(admission)) => {
                        FurtherCalls::Sample(AdmissionTerms::of(admission), Some(refusal))
                    }
                };
                (further, fresh_for)
            }
            Decision::Probe(_) => (FurtherCalls::Acquire, 0),
        };
        CachedDecision {
            further: if fresh_for == 0 { FurtherCalls::Acquire } else { further },
            request_time,
            fresh_for,
        }
    }

    /// The terms that it admits under, where it admits any call.
    pub fn terms(&self) -> Option<&AdmissionTerms> {
        match &self.further {
            FurtherCalls::Admit(terms) | FurtherCalls::Sample(terms, _) => Some(terms),
            FurtherCalls::Acquire | FurtherCalls::Refuse(_) => None,
        }
    }

    /// Whether it answers further calls.
    pub fn answers(&self) -> bool {
        self.further != FurtherCalls::Acquire
    }

    /// The time since its request, in ms, while it holds; none where it no longer does.
    ///
    /// It ends by the clock that shows its end first; also when the wall clock has stepped back before its request.
    pub fn age(&self, clock: &dyn Clock, resolution: Duration) -> Option<u64> {
        let end = Duration::from_millis(self.fresh_for);
        let coarse = clock.coarse();
        let since = |Reading { now, monotonic }: Reading| {
            let wall = Duration::from_millis(now.checked_sub(self.request_time.now)?);
            Some(monotonic.saturating_sub(self.request_time.monotonic).max(wall))
        };
        let age = match since(coarse) {
            Some(age) if age + resolution < end => age,
            // Near its end, and just after its request, by the exact times.
            _ if resolution.is_zero() => since(coarse)?,
            _ => since(Reading::now(clock))?,
        };
        (age < end).then_some(age.as_millis() as u64)
    }

    /// The deferral of one further call, with what is left of it; `refusal` is the deferral of such calls.
    pub fn deferral(&self, refusal: Option<&Refusal>, age: u64) -> Deferral {
        let fresh_for = self.fresh_for.saturating_sub(age);
        let admission = self.terms().map(|terms| Admission {
            permit: Permit { epoch: terms.epoch, lease: None },
            fresh_for,
            percent: terms.percent,
            slower_than: terms.slower_than,
        });
        // No wait was given for the calls that are not sampled: the next decision gives one, and they need not all come
        // at once.
        let until_its_end = Refusal { retry_after: self.fresh_for, spread: fresh_for, reason: RefusalReason::Ramping };
        let passed = if refusal.is_none_or(|refusal| refusal.reason.counts_down()) { age } else { 0 };
        let Refusal { retry_after, spread, reason } = *refusal.unwrap_or(&until_its_end);
        Deferral {
            retry_after: retry_after.saturating_sub(passed).max(1),
            spread,
            reason: reason.into(),
            fresh_for,
            admission,
        }
    }
}

impl AdmissionTerms {
    fn of(admission: &Admission) -> AdmissionTerms {
        let Admission { permit, percent, slower_than, .. } = *admission;
        AdmissionTerms { epoch: permit.epoch, percent, slower_than }
    }
}

impl Refusal {
    fn of(deferral: &Deferral) -> Option<Refusal> {
        let reason = match deferral.reason {
            DeferReason::Open => RefusalReason::Open,
            DeferReason::Probing => RefusalReason::Probing,
            DeferReason::ForcedOpen => RefusalReason::ForcedOpen,
            DeferReason::Ramping => RefusalReason::Ramping,
            DeferReason::Other(_) => return None,
        };
        Some(Refusal { retry_after: deferral.retry_after, spread: deferral.spread, reason })
    }
}

impl RefusalReason {
    /// Whether the wait ends at an instant, or may (an override can have an end), so that less of it is left from call to
    /// call. That of a ramp is a length of time, counted from each call.
    fn counts_down(self) -> bool {
        self != RefusalReason::Ramping
    }
}

impl From<RefusalReason> for DeferReason {
    fn from(reason: RefusalReason) -> Self {
        match reason {
            RefusalReason::Open => DeferReason::Open,
            RefusalReason::Probing => DeferReason::Probing,
            RefusalReason::ForcedOpen => DeferReason::ForcedOpen,
            RefusalReason::Ramping => DeferReason::Ramping,
        }
    }
}
