//! A plugin of a tenant. It knows nothing but the contract.

#![allow(missing_docs)] // What the generator writes has none.

#[cfg(not(feature = "control"))]
wit_bindgen::generate!({ path: ["../../wit", "wit"], world: "test:platform/plugin", generate_all });
#[cfg(feature = "control")]
wit_bindgen::generate!({ path: ["../../wit", "wit"], world: "test:platform/operator", generate_all });

use halfopen::breaker::breaker::{acquire, renew, report};
use halfopen::breaker::types::{Decision, DeferReason, Error, Outcome, Permit, Receipt, State, Verdict};

struct Plugin;

impl Guest for Plugin {
    fn call(dependency: String, up: bool) -> String {
        let permit = match acquire(&dependency, "call") {
            Ok(Decision::Proceed(admission)) => admission.permit,
            Ok(Decision::Probe(probe)) => probe.permit,
            Ok(Decision::Defer(deferral)) => return deferred(&deferral.reason),
            Err(error) => return refused(error),
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

    fn renew(dependency: String, epoch: u64, lease: u64) -> String {
        received(renew(&dependency, Permit { epoch, lease: Some(lease) }))
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
