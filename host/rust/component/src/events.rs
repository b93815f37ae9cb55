//! Events for `tracing`: transitions, stale results, failures. A deferred call has none.

use halfopen_contract::BreakerError;
use halfopen_contract::cas::Settled;
use halfopen_contract::documents::{Transition, TransitionReason};
use halfopen_contract::engine::Answer;
use halfopen_contract::store::StoreError;
use halfopen_contract::types::Verdict;

pub(crate) fn settled(namespace: &str, dependency: &str, settled: &Result<Settled, BreakerError>) {
    match settled {
        Ok(settled) => {
            transitions(namespace, dependency, &settled.transitions);
            stale(namespace, dependency, &settled.answer);
        }
        Err(BreakerError::Store(error)) => store_failed(namespace, dependency, error),
        Err(BreakerError::Engine(error)) => tracing::error!(namespace, dependency, %error, "the component failed"),
        Err(_) => {}
    }
}

pub(crate) fn transitions(namespace: &str, dependency: &str, transitions: &[String]) {
    for json in transitions {
        match json.parse() {
            Ok(Transition { reason: TransitionReason::ProbeLost, at, epoch, .. }) => {
                tracing::warn!(
                    namespace,
                    dependency,
                    at,
                    epoch,
                    "a probe was lost: its lease expired without a report"
                );
            }
            Ok(Transition { from, to, at, epoch, reason, .. }) => {
                tracing::info!(namespace, dependency, %from, %to, at, epoch, %reason, "the state changed");
            }
            Err(error) => {
                tracing::warn!(namespace, dependency, %error, "the component wrote a transition that is none")
            }
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

pub(crate) fn store_failed(namespace: &str, dependency: &str, error: &StoreError) {
    tracing::warn!(namespace, dependency, %error, "the store failed");
}
