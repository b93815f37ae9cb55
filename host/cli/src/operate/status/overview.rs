//! The table of all dependencies, worst first.

use std::time::Duration;

use anstyle::{AnsiColor, Color, Style};
use halfopen::{BreakerError, Host, Inspection, Mode, State};
use serde::Serialize;

use super::entries::Entry;
use crate::args::{Shown, Status};
use crate::shell::output::{has_colours, json, width};
use crate::shell::table::Rows;
use crate::shell::text;

/// The condition of a dependency, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Condition {
    Unreadable,
    Forced,
    Open,
    HalfOpen,
    Closed,
}

impl Condition {
    const ALL: [(Condition, &str); 5] = [
        (Condition::Unreadable, "unreadable"),
        (Condition::Forced, "forced"),
        (Condition::Open, "open"),
        (Condition::HalfOpen, "half-open"),
        (Condition::Closed, "closed"),
    ];

    fn of(entry: &Entry) -> Condition {
        match &entry.inspected {
            Err(_) => Condition::Unreadable,
            Ok(seen) if seen.forced.is_some() => Condition::Forced,
            Ok(seen) => match seen.state {
                State::Open => Condition::Open,
                State::HalfOpen => Condition::HalfOpen,
                State::Closed => Condition::Closed,
            },
        }
    }

    fn colour(self) -> Option<AnsiColor> {
        match self {
            Condition::Unreadable | Condition::Open => Some(AnsiColor::Red),
            Condition::Forced => Some(AnsiColor::Magenta),
            Condition::HalfOpen => Some(AnsiColor::Yellow),
            Condition::Closed => None,
        }
    }
}

/// The dependencies that are shown, and the counts of all that were asked for.
pub struct Overview {
    entries: Vec<Entry>,
    counts: Vec<(&'static str, usize)>,
    all: usize,
}

impl Overview {
    pub fn new(args: &Status, mut entries: Vec<Entry>) -> Self {
        let count = |condition| entries.iter().filter(|entry| Condition::of(entry) == condition).count();
        let counts = Condition::ALL.map(|(condition, word)| (word, count(condition))).to_vec();
        let all = entries.len();
        entries.retain(|entry| is_shown(args, entry));
        entries.sort_by(|one, other| {
            let key = |entry: &Entry| (Condition::of(entry), entry.dependency.clone(), entry.namespace.clone());
            key(one).cmp(&key(other))
        });
        Overview { entries, counts, all }
    }

    /// Whether a dependency that is shown is open, forced or unreadable.
    pub fn is_bad(&self) -> bool {
        self.entries.iter().any(|entry| Condition::of(entry) <= Condition::Open)
    }

    /// The error of the first record that cannot be read.
    pub fn into_error(self) -> Option<BreakerError> {
        self.entries.into_iter().find_map(|entry| entry.inspected.err())
    }

    pub fn print_json(&self) -> anyhow::Result<()> {
        #[derive(Serialize)]
        struct Document<'a> {
            at: u64,
            counts: serde_json::Map<String, serde_json::Value>,
            dependencies: Vec<Item<'a>>,
        }
        json(Document {
            at: text::now(),
            counts: self.counts.iter().map(|(word, count)| ((*word).to_owned(), (*count).into())).collect(),
            dependencies: self.entries.iter().map(Item::of).collect(),
        })
    }

    /// The counts, the heading, and a line for each dependency.
    pub fn lines(&self, host: &Host, args: &Status) -> Vec<String> {
        if self.all == 0 {
            return vec![format!("no dependency is known yet in namespace {}", text::escape(host.namespace()))];
        }
        let counts = self.counts.iter().filter(|(_, count)| *count > 0).map(|(word, count)| format!("{count} {word}"));
        let counts = counts.collect::<Vec<_>>().join(", ");
        let mut lines = vec![format!("{} {}: {counts}", self.all, plural(self.all))];
        if self.entries.is_empty() {
            lines.push("none of them is shown".to_owned());
            return lines;
        }
        let table = self.table(args);
        let mut rows = table.lines();
        lines.extend(rows.next().map(str::to_owned));
        let colours = has_colours(args.color);
        for (row, entry) in rows.zip(&self.entries) {
            let style = Style::new().fg_color(Condition::of(entry).colour().filter(|_| colours).map(Color::Ansi));
            lines.push(format!("{style}{row}{style:#}"));
        }
        lines
    }

    fn table(&self, args: &Status) -> String {
        let now = text::now();
        let headings = [
            "DEPENDENCY",
            "NAMESPACE",
            "STATE",
            "FOR",
            "NEXT PROBE",
            "WHY",
            "CONSECUTIVE",
            "CALLS",
            "FAILED",
            "SLOW",
            "LEVEL",
            "CAUSE",
        ];
        let mut rows = Rows::new(&headings, &[6, 7, 8, 9, 10]);
        for Entry { namespace, dependency, inspected } in &self.entries {
            match inspected {
                Ok(seen) => rows.add([
                    dependency.clone(),
                    namespace.clone(),
                    state(seen),
                    seen.since.map_or_else(|| "-".to_owned(), |since| length(now.saturating_sub(since))),
                    next_probe(seen, now),
                    seen.last_change.as_ref().map_or_else(|| "-".to_owned(), |change| change.reason.to_string()),
                    seen.failures_in_row.to_string(),
                    seen.calls.to_string(),
                    seen.failures.to_string(),
                    seen.slow.to_string(),
                    seen.level.to_string(),
                    cause(seen),
                ]),
                Err(_) => {
                    let rest = [""; 8].map(str::to_owned);
                    let error = "the record cannot be read".to_owned();
                    let first = [dependency.clone(), namespace.clone(), "unreadable".to_owned()];
                    rows.add(first.into_iter().chain(rest).chain([error]));
                }
            }
        }
        // The cause is the last column; without --all-namespaces all rows have one namespace.
        let hidden: &[usize] = if args.all_namespaces { &[] } else { &[1] };
        rows.fit(width(), hidden, &[10, 9, 7, 8, 5, 6, 4, 3, 1]);
        rows.render()
    }
}

/// A dependency in JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum Item<'a> {
    Readable {
        namespace: &'a str,
        #[serde(flatten)]
        inspection: &'a Inspection,
    },
    Unreadable {
        namespace: &'a str,
        dependency: &'a str,
        error: String,
    },
}

impl<'a> Item<'a> {
    fn of(entry: &'a Entry) -> Self {
        let namespace = entry.namespace.as_str();
        match &entry.inspected {
            Ok(inspection) => Item::Readable { namespace, inspection },
            Err(error) => Item::Unreadable { namespace, dependency: &entry.dependency, error: error.to_string() },
        }
    }
}

fn is_shown(args: &Status, entry: &Entry) -> bool {
    let has = |shown: &Shown| match &entry.inspected {
        Err(_) => true,
        Ok(seen) => match shown {
            Shown::Open => seen.state == State::Open,
            Shown::HalfOpen => seen.state == State::HalfOpen,
            Shown::Closed => seen.state == State::Closed,
            Shown::Forced => seen.forced.is_some(),
        },
    };
    (args.state.is_empty() || args.state.iter().any(has))
        && (!args.problems || Condition::of(entry) != Condition::Closed)
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "dependency" } else { "dependencies" }
}

fn length(ms: u64) -> String {
    text::duration(Duration::from_millis(ms))
}

/// The state in a word or two.
pub fn state(seen: &Inspection) -> String {
    match seen.forced.as_ref().map(|forced| forced.mode) {
        Some(mode @ (Mode::Open | Mode::Closed)) => format!("forced {mode}"),
        _ => seen.state.to_string(),
    }
}

fn next_probe(seen: &Inspection, now: u64) -> String {
    match (seen.state, seen.next_due) {
        _ if seen.probe_due => "due".to_owned(),
        (State::HalfOpen, _) if !seen.leases.is_empty() => "under way".to_owned(),
        (_, Some(due)) => format!("in {}", length(due.saturating_sub(now))),
        _ => "-".to_owned(),
    }
}

/// The operator and the note of an override, or the cause of the last failure.
fn cause(seen: &Inspection) -> String {
    match (&seen.forced, &seen.last_failure) {
        (Some(forced), _) if forced.note.is_empty() => format!("by {}", forced.by),
        (Some(forced), _) => format!("by {}: {}", forced.by, forced.note),
        (None, Some(failure)) if seen.state != State::Closed || seen.failures_in_row > 0 => failure.cause.clone(),
        _ => String::new(),
    }
}
