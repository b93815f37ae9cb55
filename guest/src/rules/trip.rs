//! The rules by which a closed breaker trips.

use super::evaluation::Evaluation;
use super::ramp::ramp_in_force;
use crate::record::{ClosedCounts, Reason};

/// Why the breaker trips on the outcomes that were just counted, and whether there was a failure among them; none where it
/// does not.
pub fn trip_reason(eval: &Evaluation, failed: bool) -> Option<Reason> {
    let ClosedCounts { calls, failures, slow, failures_in_row } = eval.record.state.counts(eval.now)?;
    if eval.record.state.forced().is_some() {
        return None;
    }
    let policy = &eval.policy;
    if policy.consecutive_failures > 0 && failures_in_row >= u64::from(policy.consecutive_failures) {
        return Some(Reason::ConsecutiveFailures);
    }
    if let Some(rate) = policy.failure_rate
        && calls >= u64::from(rate.minimum_calls)
        && makes_up(failures, calls, rate.percent)
    {
        return Some(Reason::FailureRate);
    }
    if let Some(rate) = policy.slow_calls
        && calls >= u64::from(rate.minimum_calls)
        && makes_up(slow, calls, rate.percent)
    {
        return Some(Reason::SlowCalls);
    }
    let fails_ramp = failed && policy.failure_rate.is_none_or(|rate| makes_up(failures, calls, rate.percent));
    (fails_ramp && ramp_in_force(eval).is_some()).then_some(Reason::RampFailure)
}

fn makes_up(part: u64, whole: u64, percent: u32) -> bool {
    u128::from(part) * 100 >= u128::from(whole) * u128::from(percent)
}

/// The backoff level of a trip: one up soon after an earlier open window; 0 after a stable time.
pub fn level_of_trip(eval: &Evaluation) -> u32 {
    let closed_for = match eval.record.state.since() {
        Some(since) => eval.now.saturating_sub(since),
        None => u64::MAX,
    };
    if eval.record.opened_before && closed_for < eval.policy.stable_after_ms {
        eval.record.level.saturating_add(1)
    } else {
        0
    }
}
