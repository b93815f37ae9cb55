//! One dependency in sentences.

use std::time::Duration;

use halfopen::{Host, Inspection, Mode, PolicyOrigin, State, Transition, TransitionReason};
use serde::Serialize;

use super::overview::state;
use super::screen::show;
use crate::args::Status;
use crate::exit::{Code, Failure};
use crate::operate::names::{similar, unknown};
use crate::shell::output::json;
use crate::shell::text;

#[derive(Serialize)]
struct Document<'a> {
    namespace: &'a str,
    #[serde(flatten)]
    inspection: &'a Inspection,
}

/// Prints a dependency; returns whether it is open or forced.
pub fn print(host: &Host, dependency: &str, args: &Status) -> anyhow::Result<bool> {
    let breaker = host.breaker(dependency);
    // First: the engine checks the name, and the list of names does not.
    let seen = breaker.inspect()?;
    let names = host.list()?;
    let is_known = names.iter().any(|name| name == dependency);
    if args.check && !is_known {
        return Err(Failure::error(Code::NoInput, unknown(host, dependency, &names)));
    }
    if args.format.json {
        json(Document { namespace: host.namespace(), inspection: &seen })?;
    } else {
        let mut lines = sentences(&seen, text::now());
        if !is_known {
            let hint = similar(dependency, &names).map(|name| format!(" Did you mean {name}?")).unwrap_or_default();
            lines.insert(1, format!("It has no record yet in namespace {}.{hint}", host.namespace()));
        }
        let policy = match breaker.policy()?.origin {
            PolicyOrigin::Host => "default",
            PolicyOrigin::Dependency => "custom",
        };
        lines.push(format!("It has the {policy} policy. Backoff level {}, epoch {}.", seen.level, seen.epoch));
        show(args, lines.iter().map(|line| text::escape(line).into_owned()).collect())?;
    }
    Ok(seen.forced.is_some() || seen.state == State::Open)
}

fn sentences(seen: &Inspection, now: u64) -> Vec<String> {
    let since = seen.since.map(|since| format!(" since {}", text::when(since, now))).unwrap_or_default();
    let mut lines = vec![format!("{} is {}{since}.", seen.dependency, state(seen))];
    lines.extend(seen.last_change.as_ref().map(|change| format!("Why: {}.", why(change))));
    if let Some(failure) = &seen.last_failure {
        let mut line = format!("Last failure: {}", text::when(failure.at, now));
        for (before, word) in [(", from ", &failure.caller), (": ", &failure.cause)] {
            if !word.is_empty() {
                line += &format!("{before}{word}");
            }
        }
        lines.push(line + ".");
    }
    if let Some(forced) = &seen.forced {
        let since = text::when(forced.since, now);
        let by = if forced.by.is_empty() { String::new() } else { format!(" by {}", forced.by) };
        let note = if forced.note.is_empty() { String::new() } else { format!(", \"{}\"", forced.note) };
        let until = forced.ends_in.map(|ms| format!(", until {}", text::when(seen.at.saturating_add(ms), now)));
        let until = until.unwrap_or_else(|| ", without an end".to_owned());
        lines.push(format!("Forced {}{by} at {since}{until}{note}.", forced.mode));
    }
    for lease in &seen.leases {
        let until = text::when(seen.at.saturating_add(lease.expires_in), now);
        lines.push(format!("{} probes with token {}; its lease ends at {until}.", lease.caller, lease.token));
    }
    lines.push(format!("Next: {}.", next(seen, now)));
    lines.push(format!(
        "In the window: {} calls, {} failed, {} slow; {} consecutive failures.",
        seen.calls, seen.failures, seen.slow, seen.failures_in_row
    ));
    lines
}

/// What brought the state about.
fn why(change: &Transition) -> String {
    let by = if change.by.is_empty() { "an operator" } else { &change.by };
    let note = if change.note.is_empty() { String::new() } else { format!(": \"{}\"", change.note) };
    let number = |count: Option<u64>| count.unwrap_or_default();
    let why = match &change.reason {
        TransitionReason::ConsecutiveFailures if change.failures_in_row == Some(1) => "a failure".to_owned(),
        TransitionReason::ConsecutiveFailures => format!("{} failures in a row", number(change.failures_in_row)),
        TransitionReason::FailureRate => {
            format!("{} of {} calls failed", number(change.failures), number(change.calls))
        }
        TransitionReason::SlowCalls => format!("{} of {} calls were slow", number(change.slow), number(change.calls)),
        TransitionReason::RampFailure => "a call failed during the ramp".to_owned(),
        TransitionReason::ProbeDue => "a probe was due, and a caller got its lease".to_owned(),
        TransitionReason::ProbeSucceeded => "a probe succeeded".to_owned(),
        TransitionReason::ProbeFailed => "a probe failed".to_owned(),
        TransitionReason::ProbeTimedOut => "a probe timed out".to_owned(),
        TransitionReason::ProbeSlow => "a probe was slow".to_owned(),
        TransitionReason::ProbeLost => "a probe's lease expired without a report".to_owned(),
        TransitionReason::Forced => format!("{by} forced it{note}"),
        TransitionReason::OverrideRemoved => format!("{by} removed the override{note}"),
        TransitionReason::OverrideEnded => "an override ended".to_owned(),
        TransitionReason::Reset => format!("{by} reset it{note}"),
        other => other.to_string(),
    };
    let from = match (change.caller.as_str(), change.failures_in_row) {
        ("", _) => String::new(),
        (caller, Some(2..)) => format!(", the last from {caller}"),
        (caller, _) => format!(" of {caller}"),
    };
    let cause = if change.cause.is_empty() { String::new() } else { format!(": {}", change.cause) };
    format!("{why}{from}{cause}")
}

/// What happens next.
fn next(seen: &Inspection, now: u64) -> String {
    let at = |ms| text::when(ms, now);
    match (&seen.forced, seen.state, seen.next_due) {
        (Some(forced), ..) if forced.ends_in.is_none() => {
            format!("it stays forced {} until `halfopen force {} none`", forced.mode, seen.dependency)
        }
        (Some(forced), _, due) if forced.mode == Mode::Open => {
            let due = due.map(|due| format!("; one caller may probe at {}", at(due))).unwrap_or_default();
            format!("all calls are deferred until the override ends{due}")
        }
        (Some(_), ..) => "all calls are admitted until the override ends".to_owned(),
        _ if seen.probe_due => "a probe is due; the next caller probes".to_owned(),
        (None, State::HalfOpen, _) if !seen.leases.is_empty() => {
            let left = seen.leases.iter().map(|lease| lease.expires_in).min().unwrap_or_default();
            let left = text::duration(Duration::from_millis(left));
            format!("the probe's report decides; without one its lease ends in {left}")
        }
        (None, State::Closed, _) => "all calls are admitted".to_owned(),
        (None, _, Some(due)) => format!("one caller may probe at {}", at(due)),
        (None, ..) => "all calls are deferred".to_owned(),
    }
}
