//! The rules of `report`, `report-tally`, `renew` and `release`.

use super::evaluation::{Effect, Evaluation};
use super::stale::{stale_call, stale_lease};
use super::trip::{level_of_trip, trip_reason};
use crate::contract::{Outcome, Permit, Receipt, Report, StaleReason, Tally};
use crate::record::window::Mark;
use crate::record::{ClosedMode, Details, LastFailure, Reason, State};
use crate::text::clean;

/// Counts the outcome of one call.
pub fn report(eval: &mut Evaluation, permit: Permit, report: &Report) -> (Receipt, Effect) {
    let slow = matches!((eval.policy.slow_calls, report.took), (Some(slow), Some(took)) if took >= slow.slower_than_ms);
    if let Some(token) = permit.lease {
        return report_probe(eval, permit.epoch, token, report, slow);
    }
    let success = report.outcome == Outcome::Success;
    let failure = matches!(report.outcome, Outcome::Failure | Outcome::Timeout);
    let tally = Tally {
        successes: (success && !slow).into(),
        slow_successes: (success && slow).into(),
        failures: (failure && !slow).into(),
        slow_failures: (failure && slow).into(),
        caller: report.caller.clone(),
        cause: report.cause.clone(),
        retry_after: report.retry_after,
    };
    report_calls(eval, permit.epoch, &tally)
}

/// Counts the outcomes of many closed-state calls, and judges once.
pub fn report_tally(eval: &mut Evaluation, permit: Permit, tally: &Tally) -> (Receipt, Effect) {
    match permit.lease {
        None => report_calls(eval, permit.epoch, tally),
        Some(_) if eval.record.state.forced().is_some() => eval.stale(StaleReason::Forced),
        Some(_) => eval.stale(StaleReason::Other("a probe is reported by itself, not in a tally".into())),
    }
}

/// Lets a live lease start anew.
pub fn renew(eval: &mut Evaluation, permit: Permit) -> (Receipt, Effect) {
    let Some(token) = permit.lease else {
        return eval.stale(StaleReason::UnknownPermit);
    };
    if let Some(reason) = stale_lease(eval, permit.epoch, token) {
        return eval.stale(reason);
    }
    let (now, policy) = (eval.now, eval.policy);
    if let State::HalfOpen { leases, .. } = &mut eval.record.state {
        for lease in leases.iter_mut().filter(|lease| lease.token == token) {
            let longest = lease.granted.saturating_add(policy.probe_max_ms).saturating_sub(now);
            lease.start = now;
            lease.length = policy.lease_ms.min(longest);
        }
    }
    (eval.applied(), Effect::Store)
}

fn report_probe(eval: &mut Evaluation, epoch: u64, token: u64, report: &Report, slow: bool) -> (Receipt, Effect) {
    if let Some(reason) = stale_lease(eval, epoch, token) {
        return eval.stale(reason);
    }
    let State::HalfOpen { leases, successes, .. } = &mut eval.record.state else {
        return eval.stale(StaleReason::UnknownPermit);
    };
    leases.retain(|lease| lease.token != token);
    eval.record.settled = Some(token);
    match report.outcome {
        Outcome::Ignored => {}
        Outcome::Success if slow => reopen(eval, report, Reason::ProbeSlow, Details::default()),
        Outcome::Success => {
            *successes = successes.saturating_add(1);
            if *successes >= eval.policy.successes_to_close {
                let mode = if eval.policy.ramp.is_some() { ClosedMode::Ramp } else { ClosedMode::Plain };
                eval.close(mode, Reason::ProbeSucceeded, Details::default());
            }
        }
        Outcome::Failure | Outcome::Timeout => {
            note_failure(eval, &report.caller, &report.cause);
            let timed_out = report.outcome == Outcome::Timeout;
            let reason = if timed_out { Reason::ProbeTimedOut } else { Reason::ProbeFailed };
            let details = last_failure(eval);
            reopen(eval, report, reason, details);
        }
    }
    (eval.applied(), Effect::Store)
}

fn reopen(eval: &mut Evaluation, report: &Report, reason: Reason, details: Details) {
    let level = eval.record.level.saturating_add(1);
    eval.open(level, report.retry_after.unwrap_or(0), reason, details);
}

fn report_calls(eval: &mut Evaluation, epoch: u64, tally: &Tally) -> (Receipt, Effect) {
    if let Some(reason) = stale_call(eval, epoch) {
        return eval.stale(reason);
    }
    if [tally.successes, tally.slow_successes, tally.failures, tally.slow_failures] == [0; 4] {
        return (eval.applied(), Effect::Keep);
    }
    count(eval, tally);
    let failed = tally.failures > 0 || tally.slow_failures > 0;
    if failed {
        note_failure(eval, &tally.caller, &tally.cause);
    }
    if let Some(reason) = trip_reason(eval, failed) {
        let details = Details { emptied: eval.record.state.counts(eval.now), ..last_failure(eval) };
        eval.open(level_of_trip(eval), tally.retry_after.unwrap_or(0), reason, details);
    }
    (eval.applied(), Effect::Store)
}

fn count(eval: &mut Evaluation, tally: &Tally) {
    let (now, slow_counts) = (eval.now, eval.policy.slow_calls.is_some());
    let State::Closed { failures_in_row, window, .. } = &mut eval.record.state else { return };
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

fn note_failure(eval: &mut Evaluation, caller: &str, cause: &str) {
    eval.record.last_failure =
        Some(LastFailure { at: eval.now, epoch: eval.record.epoch, caller: clean(caller), cause: clean(cause) });
}

/// The caller and the cause of the last failure since the last change of state.
fn last_failure(eval: &Evaluation) -> Details {
    match &eval.record.last_failure {
        Some(failure) if failure.epoch == eval.record.epoch => {
            Details { caller: failure.caller.clone(), cause: failure.cause.clone(), ..Details::default() }
        }
        _ => Details::default(),
    }
}
