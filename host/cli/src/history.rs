//! `halfopen history`: what changed the state of a dependency.

use crate::args::{Global, History};
use crate::output::line;
use crate::table::Rows;
use crate::{open, text};

/// Shows it, oldest first.
pub fn history(args: &History, global: &Global) -> anyhow::Result<()> {
    let breaker = open::host(global)?.breaker(args.dependency.as_str());
    // The store would take any name; the component says whether it is one.
    breaker.inspect()?;
    let transitions = breaker.history(args.limit)?;
    if args.json {
        for transition in &transitions {
            line(text::json(transition)?)?;
        }
        return Ok(());
    }
    if transitions.is_empty() {
        return line(format_args!("{}: no change of state is known", text::escape(&args.dependency)));
    }
    let mut rows = Rows::new(&["WHEN", "FROM", "TO", "WHY", "EPOCH"], &[4]);
    for change in transitions {
        let words =
            [change.from.to_string(), change.to.to_string(), change.reason.to_string(), change.epoch.to_string()];
        rows.add([text::instant(change.at)].into_iter().chain(words));
    }
    line(rows.render())
}
