//! `halfopen status`: the state of the dependencies.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use halfopen::{BreakerError, Host, Inspection, Mode, PolicyOrigin, State};
use serde::Serialize;

use crate::args::{Global, Status};
use crate::host;
use crate::shell::output::{line, written};
use crate::shell::table::Rows;
use crate::shell::text;

/// Clears a terminal and moves the cursor to its top.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

/// Prints the status; with `--watch` again at each interval.
pub fn status(args: &Status, global: &Global) -> anyhow::Result<()> {
    let host = host::open(global)?;
    let Some(interval) = args.watch else { return print(&host, args) };
    let clear = !args.json && std::io::stdout().is_terminal();
    loop {
        if clear {
            written(write!(std::io::stdout(), "{CLEAR}"))?;
        } else if !args.json {
            line(text::instant(text::now()))?;
        }
        print(&host, args)?;
        std::thread::sleep(interval);
    }
}

fn print(host: &Host, args: &Status) -> anyhow::Result<()> {
    match &args.dependency {
        Some(dependency) => print_one(host, dependency, args.json),
        None => print_all(host, args.json),
    }
}

/// A dependency in JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum Entry<'a> {
    Readable(&'a Inspection),
    Unreadable { dependency: &'a str, error: String },
}

/// Prints all dependencies. A record that cannot be read is shown as unreadable, and makes the program fail at the end.
fn print_all(host: &Host, json: bool) -> anyhow::Result<()> {
    let names = host.list()?;
    let all: Vec<_> = names.iter().map(|name| (name.as_str(), host.breaker(name.as_str()).inspect())).collect();
    if json {
        let entries = all.iter().map(|(dependency, inspected)| match inspected {
            Ok(inspection) => Entry::Readable(inspection),
            Err(error) => Entry::Unreadable { dependency, error: error.to_string() },
        });
        line(text::json(&entries.collect::<Vec<_>>())?)?;
    } else if all.is_empty() {
        line(format_args!("no dependency is known yet in namespace {}", text::escape(host.namespace())))?;
    } else {
        line(overview(&all, text::now()))?;
    }
    all.into_iter().find_map(|(_, inspected)| inspected.err()).map_or(Ok(()), |error| Err(error.into()))
}

fn overview(all: &[(&str, Result<Inspection, BreakerError>)], now: u64) -> String {
    let headings =
        ["DEPENDENCY", "STATE", "FOR", "WHY", "NEXT PROBE", "CALLS", "FAILED", "SLOW", "CONSECUTIVE", "LEVEL"];
    let mut rows = Rows::new(&headings, &[5, 6, 7, 8, 9]);
    for (name, inspected) in all {
        let Ok(seen) = inspected else {
            rows.add([*name, "unreadable"]);
            continue;
        };
        let numbers = [seen.calls, seen.failures, seen.slow, seen.failures_in_row, u64::from(seen.level)];
        let words = [(*name).to_owned(), state(seen), since(seen, now), why(seen), next_probe(seen, now)];
        rows.add(words.into_iter().chain(numbers.map(|number| number.to_string())));
    }
    rows.render()
}

fn print_one(host: &Host, dependency: &str, json: bool) -> anyhow::Result<()> {
    let breaker = host.breaker(dependency);
    // First: the engine checks the name, and the list of names does not.
    let seen = &breaker.inspect()?;
    if json {
        return line(text::json(seen)?);
    }
    let policy = match breaker.policy()?.origin {
        PolicyOrigin::Host => "default",
        PolicyOrigin::Dependency => "custom",
    };
    let now = text::now();
    let mut rows = Rows::new(&[], &[]);
    let mut row = |name: &str, value: String| rows.add([name.to_owned(), value]);
    row("dependency", dependency.to_owned());
    if !host.list()?.iter().any(|name| name == dependency) {
        row("record", format!("none yet in namespace {}", host.namespace()));
    }
    row("state", state(seen));
    row("for", since(seen, now));
    row("why", why(seen));
    row("next probe", next_probe(seen, now));
    if let Some(forced) = &seen.forced {
        let ends = forced.ends_in.map_or_else(|| "until removed".to_owned(), |ms| format!("for {} more", length(ms)));
        row("override", format!("{}, {ends}", forced.mode));
        for (name, value) in [("by", &forced.by), ("note", &forced.note)] {
            if !value.is_empty() {
                row(name, value.clone());
            }
        }
    }
    for lease in &seen.leases {
        row("lease", format!("token {}, {} left, held by {}", lease.token, length(lease.expires_in), lease.caller));
    }
    if let Some(failure) = &seen.last_failure {
        let ago = format!("{} ago", length(now.saturating_sub(failure.at)));
        let parts = [ago.as_str(), &failure.cause, &failure.caller];
        row("last failure", parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", "));
    }
    row("probes succeeded", seen.successes.to_string());
    row("backoff level", seen.level.to_string());
    row("calls", format!("{}, of them {} failed, {} slow", seen.calls, seen.failures, seen.slow));
    row("consecutive failures", seen.failures_in_row.to_string());
    row("epoch", seen.epoch.to_string());
    row("policy", policy.to_owned());
    line(rows.render())
}

fn length(ms: u64) -> String {
    text::duration(Duration::from_millis(ms))
}

fn state(seen: &Inspection) -> String {
    match seen.forced.as_ref().map(|forced| forced.mode) {
        Some(Mode::Open | Mode::Closed) => format!("{} (forced)", seen.state),
        _ => seen.state.to_string(),
    }
}

fn why(seen: &Inspection) -> String {
    seen.last_change.as_ref().map_or_else(|| "-".to_owned(), |change| change.reason.to_string())
}

fn since(seen: &Inspection, now: u64) -> String {
    seen.since.map_or_else(|| "-".to_owned(), |since| length(now.saturating_sub(since)))
}

fn next_probe(seen: &Inspection, now: u64) -> String {
    match (seen.state, seen.next_due) {
        _ if seen.probe_due => "due now".to_owned(),
        (State::HalfOpen, _) if !seen.leases.is_empty() => "under way".to_owned(),
        (_, Some(due)) => format!("in {}", length(due.saturating_sub(now))),
        _ => "-".to_owned(),
    }
}
