//! `halfopen history`: the changes of state of a dependency.

use halfopen::Transition;

use crate::args::{Global, History};
use crate::host;
use crate::shell::output::line;
use crate::shell::table::Rows;
use crate::shell::text;

/// Prints the history, oldest entry first.
pub fn history(args: &History, global: &Global) -> anyhow::Result<()> {
    let breaker = host::open(global)?.breaker(args.dependency.as_str());
    // A store takes any name; the engine checks it.
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
    let mut rows = Rows::new(&["WHEN", "FROM", "TO", "WHY", "EPOCH", "DETAIL"], &[4]);
    for change in transitions {
        rows.add([
            text::instant(change.at),
            change.from.to_string(),
            change.to.to_string(),
            change.reason.to_string(),
            change.epoch.to_string(),
            detail(&change),
        ]);
    }
    line(rows.render())
}

/// Cause, caller, operator and note, as far as the entry has them.
fn detail(change: &Transition) -> String {
    let fields = [("", &change.cause), ("caller ", &change.caller), ("by ", &change.by), ("note: ", &change.note)];
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    given.map(|(name, value)| format!("{name}{value}")).collect::<Vec<_>>().join(", ")
}
