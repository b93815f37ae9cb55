//! What is told through `tracing`: transitions, lost probes, stale results, failures. Nothing for a call that is deferred.

use crate::batch::Settled;
use crate::error::{BreakerError, StoreError};
use crate::op::Answer;
use crate::wire::{Tally, Transition, TransitionReason, Verdict};

pub(crate) fn transitions(namespace: &str, dependency: &str, transitions: &[Transition]) {
    for Transition { from, to, at, epoch, reason } in transitions {
        if *reason == TransitionReason::ProbeLost {
            tracing::warn!(namespace, dependency, at, epoch, "a probe was lost: its lease expired without a report");
        } else {
            tracing::info!(namespace, dependency, %from, %to, at, epoch, %reason, "the state changed");
        }
    }
}

fn stale(namespace: &str, dependency: &str, answer: &Answer) {
    if let Answer::Receipt(receipt) = answer
        && let Verdict::Stale(reason) = &receipt.verdict
    {
        tracing::info!(namespace, dependency, %reason, state = %receipt.state, "a result was stale and changed nothing");
    }
}

fn failed(namespace: &str, dependency: &str, error: &BreakerError) {
    if let BreakerError::Store(error) = error {
        store_failed(namespace, dependency, error);
    }
}

pub(crate) fn store_failed(namespace: &str, dependency: &str, error: &StoreError) {
    tracing::warn!(namespace, dependency, %error, "the store failed");
}

/// Whatever an operation came to.
pub(crate) fn settled(namespace: &str, dependency: &str, settled: &Settled) {
    match settled {
        Ok(held) => {
            transitions(namespace, dependency, &held.transitions);
            stale(namespace, dependency, &held.answer);
        }
        Err(error) => failed(namespace, dependency, error),
    }
}

/// The outcome of a call could not be recorded; the call's own result goes to its caller all the same.
pub(crate) fn unreported(namespace: &str, dependency: &str, error: &BreakerError) {
    tracing::warn!(namespace, dependency, %error, "the outcome of a call could not be recorded");
}

/// A call is admitted that nothing is recorded of.
pub(crate) fn unrecorded(namespace: &str, dependency: &str) {
    tracing::warn!(namespace, dependency, "a call is admitted without the store, and will not be recorded");
}

/// Successes stay counted in this process.
pub(crate) fn not_handed_over(namespace: &str, dependency: &str, tally: &Tally, error: &BreakerError) {
    let Tally { successes, slow_successes, .. } = tally;
    tracing::warn!(namespace, dependency, successes, slow_successes, %error, "successes could not be handed over yet");
}
