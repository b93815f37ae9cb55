//! A plugin of a tenant, written against the contract alone.

#![allow(missing_docs)] // What the generator writes has none.

#[cfg(not(feature = "control"))]
wit_bindgen::generate!({ path: ["../../wit", "wit"], world: "test:platform/plugin", generate_all });
#[cfg(feature = "control")]
wit_bindgen::generate!({ path: ["../../wit", "wit"], world: "test:platform/operator", generate_all });

use halfopen::breaker::breaker::{acquire, release, renew, report, report_tally};
use halfopen::breaker::types::{Decision, DeferReason, Error, Outcome, Permit, Receipt, Report, State, Tally, Verdict};

#[cfg(feature = "control")]
use halfopen::breaker::control;

struct Plugin;

impl Guest for Plugin {
    fn call(dependency: String, up: bool) -> String {
        let permit = match permit(&dependency) {
            Ok(permit) => permit,
            Err(why) => return why,
        };
        // A real plugin makes its call here.
        let outcome = if up { Outcome::Success } else { Outcome::Failure };
        received(report(&dependency, permit, &of(outcome)))
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
        received(report(&dependency, Permit { epoch, lease }, &of(Outcome::Failure)))
    }

    fn call_twice(dependency: String) -> String {
        let tally = Tally {
            successes: 1,
            slow_successes: 0,
            failures: 1,
            slow_failures: 0,
            caller: String::new(),
            cause: "one of two".to_owned(),
            retry_after: None,
        };
        match permit(&dependency) {
            Ok(permit) => received(report_tally(&dependency, permit, &tally)),
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
        let patient = r#"{"consecutive_failures":2}"#;
        match control::configure(&dependency, Some(patient), &operator()).and_then(|_| control::policy(&dependency)) {
            Ok(in_force) => number(&in_force.policy, "consecutive_failures"),
            Err(error) => refused(error),
        }
    }

    #[cfg(feature = "control")]
    fn reset(dependency: String) -> String {
        received(control::reset(&dependency, &operator()))
    }

    #[cfg(feature = "control")]
    fn tidy(dependency: String) -> String {
        match control::prune(&dependency, 0, &operator()) {
            Ok(removed) => removed.to_string(),
            Err(error) => refused(error),
        }
    }

    #[cfg(feature = "control")]
    fn close_down(dependency: String) -> String {
        received(control::force(&dependency, halfopen::breaker::types::Mode::Open, None, &operator()))
    }

    #[cfg(feature = "control")]
    fn forget(dependency: String) -> String {
        received(control::forget(&dependency, &operator()))
    }

    #[cfg(feature = "control")]
    fn state(dependency: String) -> String {
        match control::inspect(&dependency) {
            Ok(inspection) => text(&inspection, "state"),
            Err(error) => refused(error),
        }
    }
}

/// A report without details.
fn of(outcome: Outcome) -> Report {
    Report { outcome, took: None, caller: String::new(), cause: String::new(), retry_after: None }
}

#[cfg(feature = "control")]
fn operator() -> halfopen::breaker::types::Operator {
    halfopen::breaker::types::Operator { by: "the tenant".to_owned(), note: String::new() }
}

/// The value of a key in a JSON text, as it is written. The plugin is small, and has no JSON reader.
#[cfg(feature = "control")]
fn number(json: &str, key: &str) -> String {
    let value = json.split_once(&format!("\"{key}\":")).map_or("", |(_, rest)| rest);
    value.split([',', '}']).next().unwrap_or_default().trim().to_owned()
}

#[cfg(feature = "control")]
fn text(json: &str, key: &str) -> String {
    number(json, key).trim_matches('"').to_owned()
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
