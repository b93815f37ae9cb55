//! The rules of `acquire`.

use alloc::string::String;
use alloc::vec::Vec;

use crate::backoff;
use crate::contract::{
    Admission, Decision, DeferReason, Deferral, LostProbe, Maybe, Permit, Probe, Ramp, TransitionReason,
};
use crate::record::{Lease, Manner, State, Wait};
use crate::turn::{Effect, Turn};

/// Decides whether a call may be made.
pub fn acquire(turn: &mut Turn, caller: &str) -> (Decision, Effect) {
    let unchanged = if turn.corrected { Effect::Store } else { Effect::Keep };
    match &turn.record.state {
        State::Closed { .. } => (while_closed(turn), unchanged),
        State::Open { wait: Wait::Forced(hold), .. } => {
            let fresh_for = hold.end().map_or(u64::MAX, |end| end.saturating_sub(turn.now));
            (defer(turn, turn.policy.open_ms, DeferReason::ForcedOpen, fresh_for), unchanged)
        }
        State::Open { since, wait: Wait::Length(length) } => {
            match since.saturating_add(*length).saturating_sub(turn.now) {
                0 => {
                    let half_open = State::HalfOpen { since: turn.now, leases: Vec::new(), successes: 0 };
                    turn.change(half_open, TransitionReason::ProbeDue);
                    (grant(turn, caller), Effect::Store)
                }
                left => (defer(turn, left, DeferReason::Open, left), unchanged),
            }
        }
        State::HalfOpen { .. } => while_half_open(turn, caller, unchanged),
    }
}

fn while_closed(turn: &mut Turn) -> Decision {
    let Some((ramp, elapsed)) = ramp_in_force(turn) else {
        let fresh_for = hold_left(turn).unwrap_or(u64::MAX);
        return Decision::Proceed(admission(turn, 100, fresh_for));
    };
    let percent = admitted_percent(&ramp, elapsed);
    let admission = admission(turn, percent, ramp.over_ms - elapsed);
    if turn.random() % 100 < u64::from(percent) {
        return Decision::Proceed(admission);
    }
    let retry_after = (ramp.over_ms / 10).max(1);
    let fresh_for = admission.fresh_for;
    Decision::Defer(Deferral {
        retry_after,
        spread: backoff::share(retry_after, turn.policy.jitter_percent),
        reason: DeferReason::Ramping,
        fresh_for,
        admission: Maybe::Some(admission),
    })
}

fn while_half_open(turn: &mut Turn, caller: &str, unchanged: Effect) -> (Decision, Effect) {
    let lost = drop_expired_leases(turn);
    if lost && turn.policy.lost_probe == LostProbe::Reopen {
        let level = turn.record.level.saturating_add(1);
        let length = turn.open(level, TransitionReason::ProbeLost);
        return (defer(turn, length, DeferReason::Open, length), Effect::Store);
    }
    if turn.probe_due() {
        return (grant(turn, caller), Effect::Store);
    }
    let left = turn.next_due().map_or(1, |due| due.saturating_sub(turn.now).max(1));
    let effect = if lost { Effect::Store } else { unchanged };
    (defer(turn, left, DeferReason::Probing, left), effect)
}

/// Only `acquire` drops expired leases: each is noted once.
fn drop_expired_leases(turn: &mut Turn) -> bool {
    let now = turn.now;
    let State::HalfOpen { leases, .. } = &mut turn.record.state else { return false };
    let before = leases.len();
    leases.retain(|lease| lease.left(now).is_some());
    let lost = before - leases.len();
    (0..lost).for_each(|_| turn.note_lost_probe());
    lost > 0
}

fn grant(turn: &mut Turn, caller: &str) -> Decision {
    let token = turn.record.last_token.saturating_add(1);
    turn.record.last_token = token;
    let expires_in = turn.policy.lease_ms;
    if let State::HalfOpen { leases, .. } = &mut turn.record.state {
        let caller = String::from(caller);
        leases.push(Lease { token, caller, granted: turn.now, start: turn.now, length: expires_in });
    }
    Decision::Probe(Probe {
        permit: Permit { epoch: turn.record.epoch, lease: Maybe::Some(token) },
        expires_in,
        slower_than: slower_than(turn),
    })
}

fn admission(turn: &Turn, percent: u32, holds_for: u64) -> Admission {
    Admission {
        permit: Permit { epoch: turn.record.epoch, lease: Maybe::None },
        fresh_for: turn.policy.fresh_ms.min(holds_for),
        percent,
        slower_than: slower_than(turn),
    }
}

fn defer(turn: &Turn, retry_after: u64, reason: DeferReason, holds_for: u64) -> Decision {
    Decision::Defer(Deferral {
        retry_after,
        spread: backoff::share(retry_after, turn.policy.jitter_percent),
        reason,
        fresh_for: turn.policy.fresh_ms.min(holds_for),
        admission: Maybe::None,
    })
}

fn slower_than(turn: &Turn) -> Maybe<u64> {
    turn.policy.slow_calls.get().map(|slow| slow.slower_than_ms).into()
}

fn hold_left(turn: &Turn) -> Option<u64> {
    let end = turn.record.state.hold()?.end()?;
    Some(end.saturating_sub(turn.now))
}

/// The ramp and how far it is, in ms: reckoned from the closing, by the present policy.
pub fn ramp_in_force(turn: &Turn) -> Option<(Ramp, u64)> {
    let State::Closed { since: Some(since), manner: Manner::Ramp, .. } = turn.record.state else { return None };
    let ramp = turn.policy.ramp.get()?;
    let elapsed = turn.now.saturating_sub(since);
    (elapsed < ramp.over_ms).then_some((ramp, elapsed))
}

fn admitted_percent(ramp: &Ramp, elapsed: u64) -> u32 {
    let rest = u64::from(100u32.saturating_sub(ramp.from_percent));
    ramp.from_percent + (rest.saturating_mul(elapsed) / ramp.over_ms) as u32
}
