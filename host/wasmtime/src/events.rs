//! What is told through `tracing`: transitions, lost probes, stale results, failures. Nothing for a call that is deferred.

use crate::batch::Settled;
use crate::error::{BreakerError, StoreError};
use crate::op::Answer;
use crate::undelivered::What;
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

/// Outcomes are kept, to be told to the store later.
pub(crate) fn undelivered(namespace: &str, dependency: &str, error: &BreakerError) {
    tracing::warn!(namespace, dependency, %error, "an outcome could not be recorded yet; it is tried again");
}

/// What was kept has been told.
pub(crate) fn delivered(namespace: &str, dependency: &str) {
    tracing::info!(namespace, dependency, "an outcome that was kept was told to the store");
}

/// What was kept will not be told.
pub(crate) fn gave_up(namespace: &str, dependency: &str, what: &What, why: &dyn std::fmt::Display) {
    match what {
        What::Leased { outcome, .. } => {
            tracing::warn!(namespace, dependency, %outcome, %why, "the outcome of a probe is dropped");
        }
        What::Tally(Tally { successes, slow_successes, failures, slow_failures }) => tracing::warn!(
            namespace,
            dependency,
            successes,
            slow_successes,
            failures,
            slow_failures,
            %why,
            "outcomes are dropped"
        ),
    }
}

/// What a tenant is told less of.
#[cfg(feature = "tenants")]
pub(crate) fn withheld(namespace: &str, dependency: &str, error: &BreakerError) {
    if let BreakerError::Component(_) | BreakerError::Other(_) = error {
        tracing::warn!(namespace, dependency, %error, "a tenant's call failed");
    }
}
