//! `halfopen history`: the changes of state, and the acts of operators.

use std::collections::VecDeque;
use std::time::Duration;

use halfopen::store::{Cursor, StoreError};
use halfopen::{Host, Transition};
use serde::Serialize;

use super::names::{self, is_pattern};
use crate::args::{Global, History};
use crate::host;
use crate::shell::output::{json, line};
use crate::shell::text;

/// The number of transitions that are read at once.
const PAGE: usize = 1_000;

/// The pause between two reads with `--follow`.
const PAUSE: Duration = Duration::from_millis(500);

/// An entry of the history of a namespace.
#[derive(Serialize)]
struct Entry {
    dependency: String,
    #[serde(flatten)]
    transition: Transition,
}

/// Prints the history, oldest entry first.
pub fn history(args: &History, global: &Global) -> anyhow::Result<()> {
    let host = host::open_to_read(global)?;
    let pattern = args.dependency.as_deref().filter(|word| is_pattern(word));
    let one = args.dependency.as_deref().filter(|_| pattern.is_none());
    if let Some(name) = one {
        // A store takes any name; the engine checks it.
        host.breaker(name).inspect()?;
    }
    let pattern = pattern.map(names::parse).transpose()?;
    let since = args.since.map(|since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
    let since = since.map_or(0, |since| text::now().saturating_sub(since));
    let is_shown = |entry: &Entry| {
        entry.transition.at >= since
            && one.is_none_or(|name| entry.dependency == name)
            && pattern.as_ref().is_none_or(|pattern| pattern.matches(&entry.dependency))
    };
    let mut stream = Stream { host: &host, cursor: Cursor::Start };
    let mut newest: VecDeque<Entry> = VecDeque::new();
    if let (Some(name), false) = (one, args.follow) {
        let entries = host.breaker(name).history(args.limit)?.into_iter();
        newest.extend(entries.map(|transition| Entry { dependency: name.to_owned(), transition }).filter(is_shown));
    } else {
        while let Some(page) = stream.next()? {
            newest.extend(page.into_iter().filter(is_shown));
            newest.drain(..newest.len().saturating_sub(args.limit));
        }
    }
    if newest.is_empty() && !args.follow && !args.format.json {
        let whose = one.unwrap_or_else(|| host.namespace());
        return line(format_args!("{}: no change of state is known", text::escape(whose)));
    }
    let print = |entry: &Entry| if args.format.json { json(entry) } else { line(shown(entry, one.is_none())) };
    newest.iter().try_for_each(print)?;
    if !args.follow {
        return Ok(());
    }
    loop {
        match stream.next()? {
            Some(page) => page.iter().filter(|entry| is_shown(entry)).try_for_each(print)?,
            None => std::thread::sleep(PAUSE),
        }
    }
}

/// The transitions of a namespace, page by page.
struct Stream<'a> {
    host: &'a Host,
    cursor: Cursor,
}

impl Stream<'_> {
    /// The next page; none where there is no newer transition.
    fn next(&mut self) -> anyhow::Result<Option<Vec<Entry>>> {
        let page = self.host.store().transitions(self.host.namespace(), self.cursor, PAGE)?;
        self.cursor = page.next;
        let entry = |observed: halfopen::store::Observed| match observed.transition.parse() {
            Ok(transition) => Ok(Entry { dependency: observed.dependency, transition }),
            Err(error) => {
                let place = format!("history of {:?}", observed.dependency);
                Err(StoreError::Corrupt { place, why: format!("{error}") })
            }
        };
        let entries = page.transitions.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?;
        Ok(Some(entries).filter(|entries| !entries.is_empty()))
    }
}

/// An entry on one line.
fn shown(Entry { dependency, transition }: &Entry, with_name: bool) -> String {
    let Transition { from, to, at, reason, .. } = transition;
    let change = if from == to { to.to_string() } else { format!("{from} -> {to}") };
    let name = if with_name { format!("{dependency:<24}  ") } else { String::new() };
    let fields = [
        ("", &transition.cause),
        ("caller ", &transition.caller),
        ("by ", &transition.by),
        ("note: ", &transition.note),
    ];
    let given = fields.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("{name}{value}"));
    let detail: Vec<String> = std::iter::once(reason.to_string()).chain(given).collect();
    text::escape(&format!("{}  {name}{change:<19}  {}", text::instant(*at), detail.join(", "))).into_owned()
}
