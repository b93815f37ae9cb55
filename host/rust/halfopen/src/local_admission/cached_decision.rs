//! The last decision on a dependency, for the time that it holds.

use std::time::Duration;

use halfopen_contract::time::{Clock, Reading};
use halfopen_contract::types::{Admission, Decision, DeferReason, Deferral};

/// An answer of `acquire`, as far as it speaks of further calls. Without an admission and a refusal each runs an acquire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CachedDecision {
    /// The admission of further calls, or of a share of them.
    pub admission: Option<Admission>,
    /// The deferral of further calls, or of those outside that share.
    pub refusal: Option<Refusal>,
    /// The time of its request.
    pub request_time: Reading,
    /// It holds for this many ms from then.
    pub fresh_for: u64,
}

/// The deferral of further calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub retry_after: u64,
    pub spread: u64,
    /// The number of the reason in [`REASONS`].
    pub reason: u8,
}

/// The reasons of cached deferrals. One of a later version is not among them: such calls run an acquire each.
pub(crate) static REASONS: [DeferReason; 4] =
    [DeferReason::Ramping, DeferReason::Open, DeferReason::Probing, DeferReason::ForcedOpen];

impl CachedDecision {
    /// No decision, or one that no longer holds.
    pub const NONE: CachedDecision = CachedDecision {
        admission: None,
        refusal: None,
        request_time: Reading { now: 0, monotonic: Duration::ZERO },
        fresh_for: 0,
    };

    /// A decision, as far as it speaks of further calls.
    pub fn of(decision: &Decision, request_time: Reading) -> CachedDecision {
        let (admission, refusal, fresh_for) = match decision {
            Decision::Proceed(admission) => (Some(*admission), None, admission.fresh_for),
            Decision::Defer(Deferral { retry_after, spread, reason, fresh_for, admission }) => {
                let Some(reason) = REASONS.iter().position(|known| known == reason) else { return Self::NONE };
                let refusal = Refusal { retry_after: *retry_after, spread: *spread, reason: reason as u8 };
                // Once the wait is over there is nothing left to defer with.
                let end = if refusal.counts_down() { *retry_after } else { u64::MAX };
                (*admission, Some(refusal), end.min(*fresh_for))
            }
            Decision::Probe(_) => return Self::NONE,
        };
        if fresh_for == 0 {
            return Self::NONE;
        }
        let admission = admission.map(|admission| Admission { fresh_for, ..admission });
        CachedDecision { admission, refusal, request_time, fresh_for }
    }

    /// Whether it answers further calls.
    pub fn answers(&self) -> bool {
        self.admission.is_some() || self.refusal.is_some()
    }

    /// The time since its request, in ms, while it holds; none where it no longer does.
    ///
    /// It ends by the clock that shows its end first; also when the wall clock has stepped back before its request.
    pub fn age(&self, clock: &dyn Clock) -> Option<u64> {
        // Near its end, by the exact times.
        self.coarse_age(clock).or_else(|| self.age_at(Reading::now(clock), Duration::ZERO))
    }

    /// The same by the clock's coarse times: at least this many ms. None also where it may have ended by the exact ones.
    pub fn coarse_age(&self, clock: &dyn Clock) -> Option<u64> {
        self.age_at(clock.coarse(), clock.resolution())
    }

    /// The same by a reading that may lag.
    pub(super) fn age_at(&self, Reading { now, monotonic }: Reading, lag: Duration) -> Option<u64> {
        let passed = Duration::from_millis(now) + lag;
        let wall = passed.checked_sub(Duration::from_millis(self.request_time.now))?;
        let age = (monotonic + lag).saturating_sub(self.request_time.monotonic).max(wall);
        (age < Duration::from_millis(self.fresh_for)).then(|| age.saturating_sub(lag).as_millis() as u64)
    }

    /// The deferral of one further call, with what is left of it.
    pub fn deferral(&self, age: u64) -> Deferral {
        let fresh_for = self.fresh_for.saturating_sub(age);
        let admission = self.admission.map(|admission| Admission { fresh_for, ..admission });
        // No wait was given for the calls outside the share: the next decision gives one, and they need not all come at once.
        let until_its_end = Refusal { retry_after: fresh_for, spread: fresh_for, reason: 0 };
        let Refusal { retry_after, spread, reason } = self.refusal.unwrap_or(until_its_end);
        let passed = if self.refusal.is_some_and(|refusal| refusal.counts_down()) { age } else { 0 };
        let retry_after = retry_after.saturating_sub(passed).max(1);
        Deferral { retry_after, spread, reason: REASONS[usize::from(reason)].clone(), fresh_for, admission }
    }
}

impl Refusal {
    /// Whether the wait ends at an instant, or may (an override can have an end), so that less of it is left from call to
    /// call. That of a ramp is a length of time, counted from each call.
    fn counts_down(self) -> bool {
        REASONS[usize::from(self.reason)] != DeferReason::Ramping
    }
}
