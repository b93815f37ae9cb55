//! The rules of `report`, `report-tally`, `renew` and `release`.

use crate::acquire::ramp_in_force;
use crate::contract::{Maybe, Outcome, Permit, Receipt, StaleReason, Tally, TransitionReason};
use crate::record::{Manner, State, Wait};
use crate::turn::{Effect, Turn};
use crate::window::{Counts, Mark};

/// Counts the outcome of one call.
pub fn report(turn: &mut Turn, permit: Permit, outcome: Outcome, took: Option<u64>) -> (Receipt, Effect) {
    let slow = is_slow(turn, took);
    match permit.lease {
        Maybe::Some(token) => report_probe(turn, permit.epoch, token, outcome, slow),
        Maybe::None => {
            let (success, failure) =
                (outcome == Outcome::Success, matches!(outcome, Outcome::Failure | Outcome::Timeout));
            let tally = Tally {
                successes: (success && !slow).into(),
                slow_successes: (success && slow).into(),
                failures: (failure && !slow).into(),
                slow_failures: (failure && slow).into(),
            };
            report_calls(turn, permit.epoch, tally)
        }
    }
}

/// Counts the outcomes of many closed-state calls, and judges once.
pub fn report_tally(turn: &mut Turn, permit: Permit, tally: Tally) -> (Receipt, Effect) {
    match permit.lease {
        Maybe::None => report_calls(turn, permit.epoch, tally),
        Maybe::Some(_) if turn.record.state.hold().is_some() => turn.stale(StaleReason::Forced),
        Maybe::Some(_) => turn.stale(StaleReason::Other("a probe is reported by itself, not in a tally".into())),
    }
}

/// Lets a live lease start anew.
pub fn renew(turn: &mut Turn, permit: Permit) -> (Receipt, Effect) {
    let Maybe::Some(token) = permit.lease else {
        return turn.stale(StaleReason::UnknownPermit);
    };
    if let Some(reason) = stale_lease(turn, permit.epoch, token) {
        return turn.stale(reason);
    }
    let (now, policy) = (turn.now, turn.policy);
    if let State::HalfOpen { leases, .. } = &mut turn.record.state {
        for lease in leases.iter_mut().filter(|lease| lease.token == token) {
            let longest = lease.granted.saturating_add(policy.probe_max_ms).saturating_sub(now);
            lease.start = now;
            lease.length = policy.lease_ms.min(longest);
        }
    }
    turn.applied(Effect::Store)
}

fn report_probe(turn: &mut Turn, epoch: u64, token: u64, outcome: Outcome, slow: bool) -> (Receipt, Effect) {
    if let Some(reason) = stale_lease(turn, epoch, token) {
        return turn.stale(reason);
    }
    turn.record.settled = Some(token);
    let to_close = turn.policy.successes_to_close;
    let State::HalfOpen { leases, successes, .. } = &mut turn.record.state else {
        return turn.stale(StaleReason::UnknownPermit);
    };
    leases.retain(|lease| lease.token != token);
    let reopened = match outcome {
        Outcome::Ignored => return turn.applied(Effect::Store),
        Outcome::Success if !slow => {
            *successes = successes.saturating_add(1);
            if *successes >= to_close {
                let manner = if turn.policy.ramp != Maybe::None { Manner::Ramp } else { Manner::Plain };
                turn.close(manner, TransitionReason::ProbeSucceeded);
            }
            return turn.applied(Effect::Store);
        }
        Outcome::Success => TransitionReason::ProbeSlow,
        Outcome::Failure => TransitionReason::ProbeFailed,
        Outcome::Timeout => TransitionReason::ProbeTimedOut,
    };
    let level = turn.record.level.saturating_add(1);
    turn.open(level, reopened);
    turn.applied(Effect::Store)
}

fn report_calls(turn: &mut Turn, epoch: u64, tally: Tally) -> (Receipt, Effect) {
    if let Some(reason) = stale_call(turn, epoch) {
        return turn.stale(reason);
    }
    if tally == Tally::NONE {
        return turn.applied(Effect::Keep);
    }
    count(turn, tally);
    if let Some(reason) = trips(turn, tally) {
        let level = level_of_trip(turn);
        turn.open(level, reason);
    }
    turn.applied(Effect::Store)
}

/// Why a report with a lease counts for nothing: the first reason that fits.
fn stale_lease(turn: &Turn, epoch: u64, token: u64) -> Option<StaleReason> {
    let record = &turn.record;
    if record.state.hold().is_some() {
        return Some(StaleReason::Forced);
    }
    if record.settled == Some(token) {
        return Some(StaleReason::AlreadyReported);
    }
    let held = match &record.state {
        State::HalfOpen { leases, .. } => leases.iter().find(|lease| lease.token == token),
        _ => None,
    };
    match held {
        Some(lease) if epoch == record.epoch => match lease.left(turn.now) {
            Some(_) => None,
            None => Some(StaleReason::LeaseExpired),
        },
        None if epoch == record.epoch && token <= record.last_token => Some(StaleReason::LeaseExpired),
        _ if epoch < record.epoch => Some(StaleReason::OldEpoch),
        _ => Some(StaleReason::UnknownPermit),
    }
}

/// Why a report without a lease counts for nothing: the first reason that fits.
fn stale_call(turn: &Turn, epoch: u64) -> Option<StaleReason> {
    let record = &turn.record;
    match &record.state {
        State::Closed { .. } if epoch == record.epoch => None,
        State::Open { wait: Wait::Forced(_), .. } | State::Closed { manner: Manner::Forced(_), .. } => {
            Some(StaleReason::Forced)
        }
        _ if epoch < record.epoch => Some(StaleReason::OldEpoch),
        _ => Some(StaleReason::UnknownPermit),
    }
}

fn is_slow(turn: &Turn, took: Option<u64>) -> bool {
    matches!((turn.policy.slow_calls, took), (Maybe::Some(slow), Some(took)) if took >= slow.slower_than_ms)
}

fn count(turn: &mut Turn, tally: Tally) {
    let (now, slow_counts) = (turn.now, turn.policy.slow_calls != Maybe::None);
    let State::Closed { failures_in_row, window, .. } = &mut turn.record.state else { return };
    let groups = [
        (tally.successes, Mark { failed: false, slow: false }),
        (tally.slow_successes, Mark { failed: false, slow: slow_counts }),
        (tally.failures, Mark { failed: true, slow: false }),
        (tally.slow_failures, Mark { failed: true, slow: slow_counts }),
    ];
    for (times, mark) in groups.into_iter().filter(|(times, _)| *times > 0) {
        window.count(now, mark, times);
        *failures_in_row = if mark.failed { failures_in_row.saturating_add(times) } else { 0 };
    }
}

/// Whether the breaker trips on what was just counted, and why.
fn trips(turn: &Turn, counted: Tally) -> Option<TransitionReason> {
    let State::Closed { manner, failures_in_row, window, .. } = &turn.record.state else { return None };
    if let Manner::Forced(_) = manner {
        return None;
    }
    let policy = &turn.policy;
    let Counts { calls, failures, slow } = window.counts(turn.now);
    if policy.consecutive_failures > 0 && *failures_in_row >= u64::from(policy.consecutive_failures) {
        return Some(TransitionReason::ConsecutiveFailures);
    }
    if let Maybe::Some(rate) = policy.failure_rate
        && calls >= u64::from(rate.minimum_calls)
        && makes_up(failures, calls, rate.percent)
    {
        return Some(TransitionReason::FailureRate);
    }
    if let Maybe::Some(rate) = policy.slow_calls
        && calls >= u64::from(rate.minimum_calls)
        && makes_up(slow, calls, rate.percent)
    {
        return Some(TransitionReason::SlowCalls);
    }
    let failed = counted.failures > 0 || counted.slow_failures > 0;
    let fails_ramp = failed && policy.failure_rate.get().is_none_or(|rate| makes_up(failures, calls, rate.percent));
    (fails_ramp && ramp_in_force(turn).is_some()).then_some(TransitionReason::RampFailure)
}

fn makes_up(part: u64, whole: u64, percent: u32) -> bool {
    u128::from(part) * 100 >= u128::from(whole) * u128::from(percent)
}

/// Tripping soon after an earlier open window goes one level up; after a stable time the backoff starts afresh.
fn level_of_trip(turn: &Turn) -> u32 {
    let closed_for = match turn.record.state {
        State::Closed { since: Some(since), .. } => turn.now.saturating_sub(since),
        _ => u64::MAX,
    };
    if turn.record.opened_before && closed_for < turn.policy.stable_after_ms {
        turn.record.level.saturating_add(1)
    } else {
        0
    }
}

impl Tally {
    /// No outcome at all.
    pub const NONE: Tally = Tally { successes: 0, slow_successes: 0, failures: 0, slow_failures: 0 };
}
