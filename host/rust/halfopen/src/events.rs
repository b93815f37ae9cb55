//! Events for `tracing`: transitions, lost probes, stale results, failures. There is none for a call that is deferred.

use halfopen_contract::BreakerError;
use halfopen_contract::cas::Settled;
use halfopen_contract::documents::{Transition, TransitionReason};
use halfopen_contract::engine::Answer;
use halfopen_contract::types::{Outcome, Tally, Verdict};

/// The result of an operation.
pub(crate) fn settled(namespace: &str, dependency: &str, settled: &Result<Settled, BreakerError>) {
    match settled {
        Ok(settled) => {
            settled.transitions.iter().for_each(|json| transition(namespace, dependency, json));
            stale(namespace, dependency, &settled.answer);
        }
        Err(BreakerError::Store(error)) => tracing::warn!(namespace, dependency, %error, "the store failed"),
        Err(_) => {}
    }
}

fn transition(namespace: &str, dependency: &str, json: &str) {
    let Ok(transition) = json.parse::<Transition>() else {
        return tracing::info!(namespace, dependency, json, "the state changed");
    };
    let Transition { from, to, at, epoch, reason, by, note, caller, cause, .. } = transition;
    if reason == TransitionReason::ProbeLost {
        tracing::warn!(
            namespace,
            dependency,
            at,
            epoch,
            caller,
            "a probe was lost: its lease expired without a report"
        );
    } else if from == to {
        tracing::info!(namespace, dependency, state = %to, at, epoch, %reason, by, note, "the state stays");
    } else {
        tracing::info!(
            namespace, dependency, %from, %to, at, epoch, %reason, by, note, caller, cause,
            "the state changed"
        );
    }
}

fn stale(namespace: &str, dependency: &str, answer: &Answer) {
    if let Answer::Receipt(receipt) = answer
        && let Verdict::Stale(reason) = &receipt.verdict
    {
        tracing::info!(namespace, dependency, %reason, state = %receipt.state, "a result was stale and changed nothing");
    }
}

/// The outcome of a call could not be recorded; the call's own result goes to its caller all the same.
pub(crate) fn unreported(namespace: &str, dependency: &str, error: &BreakerError) {
    tracing::warn!(namespace, dependency, %error, "the outcome of a call could not be recorded");
}

/// A call is admitted without the store.
pub(crate) fn unrecorded(namespace: &str, dependency: &str) {
    tracing::warn!(namespace, dependency, "a call is admitted without the store, and will not be recorded");
}

/// An outcome waits until the store can be reached.
pub(crate) fn postponed(namespace: &str, dependency: &str, error: &BreakerError) {
    tracing::warn!(namespace, dependency, %error, "an outcome could not be recorded yet; it is tried again");
}

/// An outcome that waited is in the store.
pub(crate) fn delivered(namespace: &str, dependency: &str) {
    tracing::info!(namespace, dependency, "an outcome that waited for the store was recorded");
}

/// The outcome of a probe will not be recorded.
pub(crate) fn probe_dropped(namespace: &str, dependency: &str, outcome: Outcome, why: &dyn std::fmt::Display) {
    tracing::warn!(namespace, dependency, %outcome, %why, "the outcome of a probe is dropped");
}

/// Outcomes will not be recorded.
pub(crate) fn tally_dropped(namespace: &str, dependency: &str, tally: &Tally, why: &dyn std::fmt::Display) {
    let Tally { successes, slow_successes, failures, slow_failures, .. } = tally;
    tracing::warn!(
        namespace, dependency, successes, slow_successes, failures, slow_failures, %why,
        "outcomes are dropped"
    );
}
