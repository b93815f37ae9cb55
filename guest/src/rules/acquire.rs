//! The rules of `acquire`.

use alloc::string::String;
use alloc::vec::Vec;

use super::backoff;
use super::evaluation::{Effect, Evaluation};
use super::ramp::{admitted_percent, ramp_in_force};
use crate::contract::{Admission, Decision, DeferReason, Deferral, Permit, Probe};
use crate::policy::LostProbe;
use crate::record::{Details, Lease, OpenEnd, Reason, State};
use crate::text::clean;

/// Decides whether a call may be made.
pub fn acquire(eval: &mut Evaluation, caller: &str) -> (Decision, Effect) {
    let unchanged = if eval.corrected { Effect::Store } else { Effect::Keep };
    match &eval.record.state {
        State::Closed { .. } => (while_closed(eval), unchanged),
        State::Open { end: OpenEnd::Forced(forced), .. } => {
            let left = forced.left(eval.now).unwrap_or(u64::MAX);
            (defer(eval, eval.policy.open_ms.min(left), DeferReason::ForcedOpen, left), unchanged)
        }
        State::Open { since, end: OpenEnd::Length(length) } => {
            match since.saturating_add(*length).saturating_sub(eval.now) {
                0 => {
                    let half_open = State::HalfOpen { since: eval.now, leases: Vec::new(), successes: 0 };
                    eval.change(half_open, Reason::ProbeDue, Details::default());
                    (grant(eval, caller), Effect::Store)
                }
                left => (defer(eval, left, DeferReason::Open, left), unchanged),
            }
        }
        State::HalfOpen { .. } => while_half_open(eval, caller, unchanged),
    }
}

fn while_closed(eval: &mut Evaluation) -> Decision {
    let Some((ramp, elapsed)) = ramp_in_force(eval) else {
        let left = eval.record.state.forced().and_then(|forced| forced.left(eval.now));
        return Decision::Proceed(admission(eval, 100, left.unwrap_or(u64::MAX)));
    };
    let percent = admitted_percent(&ramp, elapsed);
    let admission = admission(eval, percent, ramp.over_ms - elapsed);
    if eval.random() % 100 < u64::from(percent) {
        return Decision::Proceed(admission);
    }
    let retry_after = (ramp.over_ms / 10).max(1);
    Decision::Defer(Deferral {
        retry_after,
        spread: backoff::share(retry_after, eval.policy.jitter_percent),
        reason: DeferReason::Ramping,
        fresh_for: admission.fresh_for,
        admission: Some(admission),
    })
}

fn while_half_open(eval: &mut Evaluation, caller: &str, unchanged: Effect) -> (Decision, Effect) {
    let lost = drop_expired_leases(eval);
    if let Some(holder) = &lost
        && eval.policy.lost_probe == LostProbe::Reopen
    {
        let level = eval.record.level.saturating_add(1);
        let length = eval.open(level, 0, Reason::ProbeLost, held_by(holder));
        return (defer(eval, length, DeferReason::Open, length), Effect::Store);
    }
    if eval.probe_due() {
        return (grant(eval, caller), Effect::Store);
    }
    let left = eval.next_due().map_or(1, |due| due.saturating_sub(eval.now).max(1));
    let effect = if lost.is_some() { Effect::Store } else { unchanged };
    (defer(eval, left, DeferReason::Probing, left), effect)
}

/// Drops the expired leases and notes each, once: only `acquire` drops them. Returns the holder of the last one.
fn drop_expired_leases(eval: &mut Evaluation) -> Option<String> {
    let now = eval.now;
    let State::HalfOpen { leases, .. } = &mut eval.record.state else { return None };
    let lost: Vec<Lease> = leases.extract_if(.., |lease| lease.left(now).is_none()).collect();
    for lease in &lost {
        eval.note(Reason::ProbeLost, held_by(&lease.caller));
    }
    lost.into_iter().next_back().map(|lease| lease.caller)
}

fn held_by(caller: &str) -> Details {
    Details { caller: caller.into(), ..Details::default() }
}

fn grant(eval: &mut Evaluation, caller: &str) -> Decision {
    let token = eval.record.last_token.saturating_add(1);
    eval.record.last_token = token;
    let expires_in = eval.policy.lease_ms;
    if let State::HalfOpen { leases, .. } = &mut eval.record.state {
        let caller = clean(caller);
        leases.push(Lease { token, caller, granted: eval.now, start: eval.now, length: expires_in });
    }
    Decision::Probe(Probe {
        permit: Permit { epoch: eval.record.epoch, lease: Some(token) },
        expires_in,
        slower_than: slower_than(eval),
    })
}

fn admission(eval: &Evaluation, percent: u32, holds_for: u64) -> Admission {
    Admission {
        permit: Permit { epoch: eval.record.epoch, lease: None },
        fresh_for: eval.policy.fresh_ms.min(holds_for),
        percent,
        slower_than: slower_than(eval),
    }
}

fn defer(eval: &Evaluation, retry_after: u64, reason: DeferReason, holds_for: u64) -> Decision {
    Decision::Defer(Deferral {
        retry_after,
        spread: backoff::share(retry_after, eval.policy.jitter_percent),
        reason,
        fresh_for: eval.policy.fresh_ms.min(holds_for),
        admission: None,
    })
}

fn slower_than(eval: &Evaluation) -> Option<u64> {
    eval.policy.slow_calls.map(|slow| slow.slower_than_ms)
}
