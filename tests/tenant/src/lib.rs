//! A plugin of a tenant. It knows nothing but the contract.

#![allow(missing_docs)] // What the generator writes has none.

#[cfg(not(feature = "control"))]
wit_bindgen::generate!({ path: ["../../wit", "wit"], world: "test:platform/plugin", generate_all });
#[cfg(feature = "control")]
wit_bindgen::generate!({ path: ["../../wit", "wit"], world: "test:platform/operator", generate_all });

use halfopen::breaker::breaker::{acquire, release, renew, report, report_tally};
use halfopen::breaker::types::{Decision, DeferReason, Error, Outcome, Permit, Receipt, State, Tally, Verdict};

struct Plugin;

impl Guest for Plugin {
    fn call(dependency: String, up: bool) -> String {
        let permit = match permit(&dependency) {
            Ok(permit) => permit,
            Err(why) => return why,
        };
        // Here a plugin would make its call.
        let outcome = if up { Outcome::Success } else { Outcome::Failure };
        received(report(&dependency, permit, outcome, None))
    }

    fn take(dependency: String, caller: String) -> String {
        match acquire(&dependency, &caller) {
            Ok(Decision::Proceed(admission)) => format!("proceed {}", admission.permit.epoch),
            Ok(Decision::Probe(probe)) => {
                format!("probe {} {}", probe.permit.epoch, probe.permit.lease.unwrap_or_default())
            }
            Ok(Decision::Defer(deferral)) => deferred(&deferral.reason),
            Err(error) => refused(error),
        }
    }

    fn die(dependency: String) {
        let answer = acquire(&dependency, "the dying");
        panic!("{answer:?}");
    }

    fn forge(dependency: String, epoch: u64, lease: Option<u64>) -> String {
        received(report(&dependency, Permit { epoch, lease }, Outcome::Failure, None))
    }

    fn call_twice(dependency: String) -> String {
        let tally = Tally { successes: 1, slow_successes: 0, failures: 1, slow_failures: 0 };
        match permit(&dependency) {
            Ok(permit) => received(report_tally(&dependency, permit, tally)),
            Err(why) => why,
        }
    }

    fn decline(dependency: String) -> String {
        match permit(&dependency) {
            Ok(permit) => received(release(&dependency, permit)),
            Err(why) => why,
        }
    }

    fn renew(dependency: String, epoch: u64, lease: u64) -> String {
        received(renew(&dependency, Permit { epoch, lease: Some(lease) }))
    }

    #[cfg(feature = "control")]
    fn be_patient(dependency: String) -> String {
        use halfopen::breaker::control;
        let patient = |mut policy: halfopen::breaker::types::PolicyInForce| {
            policy.policy.consecutive_failures = 2;
            control::configure(&dependency, policy.policy)
        };
        match control::policy(&dependency).and_then(patient).and_then(|_| control::policy(&dependency)) {
            Ok(policy) => policy.policy.consecutive_failures.to_string(),
            Err(error) => refused(error),
        }
    }

    #[cfg(feature = "control")]
    fn reset(dependency: String) -> String {
        received(halfopen::breaker::control::reset(&dependency))
    }

    #[cfg(feature = "control")]
    fn tidy(dependency: String) -> String {
        match halfopen::breaker::control::prune(&dependency, 0) {
            Ok(removed) => removed.to_string(),
            Err(error) => refused(error),
        }
    }

    #[cfg(feature = "control")]
    fn close_down(dependency: String) -> String {
        use halfopen::breaker::{control, types::Mode};
        received(control::force(&dependency, Mode::Open, None, "by the tenant"))
    }

    #[cfg(feature = "control")]
    fn forget(dependency: String) -> String {
        received(halfopen::breaker::control::forget(&dependency))
    }

    #[cfg(feature = "control")]
    fn state(dependency: String) -> String {
        match halfopen::breaker::control::inspect(&dependency) {
            Ok(inspection) => name(inspection.state).to_owned(),
            Err(error) => refused(error),
        }
    }
}

/// A permit for a call, or why there is none.
fn permit(dependency: &str) -> Result<Permit, String> {
    match acquire(dependency, "a call") {
        Ok(Decision::Proceed(admission)) => Ok(admission.permit),
        Ok(Decision::Probe(probe)) => Ok(probe.permit),
        Ok(Decision::Defer(deferral)) => Err(deferred(&deferral.reason)),
        Err(error) => Err(refused(error)),
    }
}

fn deferred(reason: &DeferReason) -> String {
    let reason = match reason {
        DeferReason::Open => "open",
        DeferReason::Probing => "probing",
        DeferReason::ForcedOpen => "forced open",
        DeferReason::Ramping => "ramping",
        DeferReason::Other(reason) => reason,
    };
    format!("deferred: {reason}")
}

fn name(state: State) -> &'static str {
    match state {
        State::Closed => "closed",
        State::Open => "open",
        State::HalfOpen => "half-open",
    }
}

fn received(receipt: Result<Receipt, Error>) -> String {
    match receipt {
        Ok(Receipt { verdict: Verdict::Applied, state, .. }) => format!("applied: {}", name(state)),
        Ok(Receipt { verdict: Verdict::Stale(reason), .. }) => format!("stale: {reason:?}"),
        Err(error) => refused(error),
    }
}

fn refused(error: Error) -> String {
    match error {
        Error::InvalidDependency(why) => format!("invalid dependency: {why}"),
        Error::InvalidArgument(why) => format!("invalid argument: {why}"),
        Error::TooManyCalls(ms) => format!("too many calls: {ms}"),
        Error::TooManyDependencies(most) => format!("too many dependencies: {most}"),
        other => format!("{other:?}"),
    }
}

export!(Plugin);
