//! `halfopen status`: what is known of the dependencies.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use halfopen::{BreakerError, Host, Inspection, Mode, State};
use serde::Serialize;

use crate::args::{Global, Status};
use crate::output::{line, written};
use crate::table::Rows;
use crate::{open, text};

/// Clears a terminal and goes to its top.
const CLEAR: &str = "\u{1b}[H\u{1b}[2J";

/// Shows it; with `--watch` again and again.
pub fn status(args: &Status, global: &Global) -> anyhow::Result<()> {
    let host = open::host(global)?;
    let Some(every) = args.watch else { return look(&host, args) };
    let clear = !args.json && std::io::stdout().is_terminal();
    loop {
        if clear {
            written(write!(std::io::stdout(), "{CLEAR}"))?;
        } else if !args.json {
            line(text::instant(text::now()))?;
        }
        look(&host, args)?;
        std::thread::sleep(every);
    }
}

fn look(host: &Host, args: &Status) -> anyhow::Result<()> {
    match &args.dependency {
        Some(dependency) => one(host, dependency, args.json),
        None => all(host, args.json),
    }
}

/// A dependency in JSON.
#[derive(Serialize)]
struct Seen<'a> {
    dependency: &'a str,
    #[serde(flatten)]
    inspection: Option<&'a Inspection>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl<'a> Seen<'a> {
    fn new(dependency: &'a str, looked: &'a Result<Inspection, BreakerError>) -> Self {
        Seen { dependency, inspection: looked.as_ref().ok(), error: looked.as_ref().err().map(ToString::to_string) }
    }
}

/// Shows all; a record that cannot be read is shown as such, and makes the program fail at the end.
fn all(host: &Host, json: bool) -> anyhow::Result<()> {
    let names = host.list()?;
    let looked: Vec<_> = names.iter().map(|name| (name.as_str(), host.breaker(name.as_str()).inspect())).collect();
    if json {
        let seen: Vec<Seen<'_>> = looked.iter().map(|(name, looked)| Seen::new(name, looked)).collect();
        line(text::json(&seen)?)?;
    } else if looked.is_empty() {
        line(format_args!("nothing is known yet in namespace {}", text::escape(host.namespace())))?;
    } else {
        line(overview(&looked, text::now()))?;
    }
    looked.into_iter().find_map(|(_, looked)| looked.err()).map_or(Ok(()), |error| Err(error.into()))
}

fn overview(looked: &[(&str, Result<Inspection, BreakerError>)], now: u64) -> String {
    let mut rows = Rows::new(
        &["DEPENDENCY", "STATE", "FOR", "NEXT PROBE", "CALLS", "FAILED", "SLOW", "IN A ROW", "LEVEL"],
        &[4, 5, 6, 7, 8],
    );
    for (name, looked) in looked {
        match looked {
            Ok(seen) => {
                let numbers = [seen.calls, seen.failures, seen.slow, seen.failures_in_row, u64::from(seen.level)];
                let words = [(*name).to_owned(), state(seen), since(seen, now), next_probe(seen, now)];
                rows.add(words.into_iter().chain(numbers.map(|number| number.to_string())));
            }
            Err(_) => rows.add([*name, "unreadable"]),
        }
    }
    rows.render()
}

fn one(host: &Host, dependency: &str, json: bool) -> anyhow::Result<()> {
    let looked = host.breaker(dependency).inspect();
    if json && let Ok(inspection) = &looked {
        let seen = Seen { dependency, inspection: Some(inspection), error: None };
        return line(text::json(&seen)?);
    }
    let seen = looked?;
    let origin = host.breaker(dependency).policy()?.origin;
    let now = text::now();
    let mut rows = Rows::new(&[], &[]);
    let mut row = |name: &str, value: String| rows.add([name.to_owned(), value]);
    row("dependency", dependency.to_owned());
    row("state", state(&seen));
    row("for", since(&seen, now));
    row("next probe", next_probe(&seen, now));
    if let Some(forced) = &seen.forced {
        let ends =
            forced.ends_in.map_or_else(|| "until taken back".to_owned(), |ms| format!("for {} more", length(ms)));
        row("forced", format!("{}, {ends}", forced.mode));
        if !forced.note.is_empty() {
            row("note", forced.note.clone());
        }
    }
    for lease in &seen.leases {
        row("lease", format!("token {}, {} left, held by {}", lease.token, length(lease.expires_in), lease.caller));
    }
    row("probes succeeded", seen.successes.to_string());
    row("backoff level", seen.level.to_string());
    row("calls", format!("{}, of them {} failed, {} slow", seen.calls, seen.failures, seen.slow));
    row("failures in a row", seen.failures_in_row.to_string());
    row("epoch", seen.epoch.to_string());
    row("policy", format!("the {origin}'s"));
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
