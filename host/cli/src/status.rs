//! `halfopen status`: what is known of the dependencies.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use halfopen::{BreakerError, Host, Inspection, Mode, State, TransitionReason};
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

/// What is seen of a dependency; in JSON, all of it is one object.
#[derive(Serialize)]
struct Seen<'a> {
    dependency: &'a str,
    /// Whether the store has a record of it.
    recorded: bool,
    #[serde(flatten)]
    inspection: Inspection,
    /// Why the state last changed.
    reason: Option<TransitionReason>,
}

/// A dependency whose record cannot be read, in JSON.
#[derive(Serialize)]
struct Unreadable<'a> {
    dependency: &'a str,
    error: String,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Shown<'a> {
    Seen(&'a Seen<'a>),
    Unreadable(Unreadable<'a>),
}

impl<'a> Seen<'a> {
    fn look(host: &Host, dependency: &'a str, recorded: bool) -> Result<Self, BreakerError> {
        let breaker = host.breaker(dependency);
        let inspection = breaker.inspect()?;
        let last = if inspection.epoch == 0 { None } else { breaker.history(1)?.pop() };
        // One of another epoch is not what led to this state: the history is bounded, and others go on meanwhile.
        let reason = last.filter(|change| change.epoch == inspection.epoch).map(|change| change.reason);
        Ok(Seen { dependency, recorded, inspection, reason })
    }

    fn why(&self) -> String {
        self.reason.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string)
    }
}

/// Shows all; a record that cannot be read is shown as such, and makes the program fail at the end.
fn all(host: &Host, json: bool) -> anyhow::Result<()> {
    let names = host.list()?;
    let looked: Vec<_> = names.iter().map(|name| (name.as_str(), Seen::look(host, name, true))).collect();
    if json {
        let shown = looked.iter().map(|(dependency, looked)| match looked {
            Ok(seen) => Shown::Seen(seen),
            Err(error) => Shown::Unreadable(Unreadable { dependency, error: error.to_string() }),
        });
        line(text::json(&shown.collect::<Vec<_>>())?)?;
    } else if looked.is_empty() {
        line(format_args!("nothing is known yet in namespace {}", text::escape(host.namespace())))?;
    } else {
        line(overview(&looked, text::now()))?;
    }
    looked.into_iter().find_map(|(_, looked)| looked.err()).map_or(Ok(()), |error| Err(error.into()))
}

fn overview(looked: &[(&str, Result<Seen<'_>, BreakerError>)], now: u64) -> String {
    let mut rows = Rows::new(
        &["DEPENDENCY", "STATE", "FOR", "WHY", "NEXT PROBE", "CALLS", "FAILED", "SLOW", "IN A ROW", "LEVEL"],
        &[5, 6, 7, 8, 9],
    );
    for (name, looked) in looked {
        match looked {
            Ok(shown) => {
                let seen = &shown.inspection;
                let numbers = [seen.calls, seen.failures, seen.slow, seen.failures_in_row, u64::from(seen.level)];
                let words = [(*name).to_owned(), state(seen), since(seen, now), shown.why(), next_probe(seen, now)];
                rows.add(words.into_iter().chain(numbers.map(|number| number.to_string())));
            }
            Err(_) => rows.add([*name, "unreadable"]),
        }
    }
    rows.render()
}

fn one(host: &Host, dependency: &str, json: bool) -> anyhow::Result<()> {
    // Looked up first: that fails for what is no name, which the list of names cannot tell.
    let mut shown = Seen::look(host, dependency, true)?;
    shown.recorded = host.list()?.iter().any(|name| name == dependency);
    if json {
        return line(text::json(&shown)?);
    }
    let origin = host.breaker(dependency).policy()?.origin;
    let now = text::now();
    let seen = &shown.inspection;
    let mut rows = Rows::new(&[], &[]);
    let mut row = |name: &str, value: String| rows.add([name.to_owned(), value]);
    row("dependency", dependency.to_owned());
    if !shown.recorded {
        row("record", format!("none yet in namespace {}", host.namespace()));
    }
    row("state", state(seen));
    row("for", since(seen, now));
    row("why", shown.why());
    row("next probe", next_probe(seen, now));
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
