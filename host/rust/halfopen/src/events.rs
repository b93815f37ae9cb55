//! Events for `tracing` of outcomes that are recorded later or not at all. Those of operations are in
//! [`halfopen_contract::events`].

use halfopen_contract::BreakerError;
use halfopen_contract::types::{Outcome, Tally};

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
