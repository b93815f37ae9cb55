//! Events for `tracing` of the operations that are done: transitions, stale results, failures. A call that is deferred has
//! none.

use crate::cas::Settled;
use crate::documents::{Transition, TransitionReason};
use crate::engine::Answer;
use crate::error::BreakerError;
use crate::store::StoreError;
use crate::types::Verdict;

/// The result of an operation.
pub fn settled(namespace: &str, dependency: &str, settled: &Result<Settled, BreakerError>) {
    match settled {
        Ok(settled) => {
            transitions(namespace, dependency, &settled.transitions);
            stale(namespace, dependency, &settled.answer);
        }
        Err(BreakerError::Store(error)) => store_failed(namespace, dependency, error),
        Err(BreakerError::Engine(error)) => tracing::error!(namespace, dependency, %error, "the engine failed"),
        Err(_) => {}
    }
}

/// Transitions that are in the store.
pub fn transitions(namespace: &str, dependency: &str, transitions: &[String]) {
    transitions.iter().for_each(|json| transition(namespace, dependency, json));
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

/// A failure of the store.
pub fn store_failed(namespace: &str, dependency: &str, error: &StoreError) {
    tracing::warn!(namespace, dependency, %error, "the store failed");
}
