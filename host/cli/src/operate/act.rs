//! `halfopen force`, `reset` and `forget`.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use halfopen::{Breaker, BreakerError, Host, Mode, Receipt, State};
use serde::Serialize;

use super::names::{is_pattern, matching, similar, unknown};
use crate::args::{Caution, Force, ForceMode, Global, New, Target};
use crate::exit::{Code, Failure};
use crate::host;
use crate::shell::output::{json, line, note};
use crate::shell::text;

/// The result of an act.
#[derive(Serialize)]
pub struct Done<'a> {
    pub dependency: &'a str,
    /// What was done, in words.
    pub done: String,
    /// The state after it.
    pub state: State,
}

impl Done<'_> {
    pub fn print(&self, as_json: bool) -> anyhow::Result<()> {
        match as_json {
            true => json(self),
            false => line(format_args!("{}: {}; it is {}", text::escape(self.dependency), self.done, self.state)),
        }
    }
}

/// Forces a state, or removes an override.
pub fn force(args: &Force, global: &Global) -> anyhow::Result<()> {
    let note = &args.target.acting.note;
    let mode = match args.mode {
        ForceMode::Open => Mode::Open,
        ForceMode::Closed => Mode::Closed,
        ForceMode::None => {
            return act(&args.target, global, None, "without its override", |breaker| remove(breaker, note));
        }
    };
    let words = match args.lasting {
        None => format!("forced {mode} until the override is removed"),
        Some(lasting) => format!("forced {mode} for {}", text::duration(lasting)),
    };
    act(&args.target, global, Some(&args.new), &words, |breaker| {
        Ok((words.clone(), breaker.force(mode, args.lasting, note)?))
    })
}

/// Removes an override.
fn remove(breaker: &Breaker, note: &str) -> Result<(String, Receipt), BreakerError> {
    let was_forced = breaker.inspect()?.forced.is_some();
    let receipt = breaker.force(Mode::None, None, note)?;
    let is_due = receipt.state == State::Open && receipt.next_due.is_some_and(|due| due <= text::now());
    let words = match (was_forced, is_due) {
        (false, _) => "there was no override",
        (true, true) => "override removed; a probe is due",
        (true, false) => "override removed",
    };
    Ok((words.to_owned(), receipt))
}

/// Closes the breaker and clears what it has counted.
pub fn reset(target: &Target, global: &Global) -> anyhow::Result<()> {
    act(target, global, None, "reset", |breaker| Ok(("reset".to_owned(), breaker.reset(&target.acting.note)?)))
}

/// Removes the record.
pub fn forget(target: &Target, global: &Global) -> anyhow::Result<()> {
    act(target, global, None, "forgotten", |breaker| Ok(("forgotten".to_owned(), breaker.forget(&target.acting.note)?)))
}

/// Acts on a dependency, or on all that match a pattern. With `new` the dependency need not have a record.
fn act(
    target: &Target,
    global: &Global,
    new: Option<&New>,
    words: &str,
    act: impl Fn(&Breaker) -> Result<(String, Receipt), BreakerError>,
) -> anyhow::Result<()> {
    let host = host::open_for(global, target.acting.by.as_deref())?;
    let all = host.list()?;
    let word = target.dependency.as_str();
    let names = match new {
        Some(new) if !is_pattern(word) => {
            check_new(&host, word, &all, new)?;
            vec![word.to_owned()]
        }
        _ => known(&host, word, &all)?,
    };
    if target.caution.dry_run {
        return names.iter().try_for_each(|dependency| rehearse(dependency, words, target.format.json));
    }
    if is_pattern(word) {
        confirm(&names, words, &target.caution)?;
    }
    let mut failed = None;
    for name in &names {
        match act(&host.breaker(name.as_str())) {
            Ok((done, receipt)) => {
                let is_new = if all.contains(name) { "" } else { " (a new name)" };
                Done { dependency: name, done: done + is_new, state: receipt.state }.print(target.format.json)?;
            }
            Err(error) => {
                if let Some(earlier) = failed.replace((name, error)) {
                    note(format_args!("{}: {}", earlier.0, earlier.1));
                }
            }
        }
    }
    match failed {
        Some((name, error)) if names.len() > 1 => Err(anyhow::Error::from(error).context(name.clone())),
        Some((_, error)) => Err(error.into()),
        None => Ok(()),
    }
}

/// Shows what would be done.
fn rehearse(dependency: &str, would_be: &str, as_json: bool) -> anyhow::Result<()> {
    #[derive(Serialize)]
    struct Rehearsed<'a> {
        dependency: &'a str,
        would_be: &'a str,
    }
    match as_json {
        true => json(Rehearsed { dependency, would_be }),
        false => line(format_args!("{}: would be {would_be}", text::escape(dependency))),
    }
}

/// The dependencies with a record that a word names.
pub fn known(host: &Host, word: &str, all: &[String]) -> anyhow::Result<Vec<String>> {
    if !is_pattern(word) && !all.iter().any(|name| name == word) {
        // First: the engine checks the name.
        host.breaker(word).inspect()?;
        return Err(Failure::error(Code::NoInput, unknown(host, word, all)));
    }
    matching(host, word, all)
}

/// Refuses a new name that is like another, unless it is to be created.
pub fn check_new(host: &Host, name: &str, all: &[String], new: &New) -> anyhow::Result<()> {
    if new.create || all.iter().any(|other| other == name) {
        return Ok(());
    }
    let Some(other) = similar(name, all) else { return Ok(()) };
    let namespace = host.namespace();
    let message =
        format!("no dependency {name} is known in namespace {namespace}, but {other} is; give --create for a new one");
    Err(Failure::error(Code::NoInput, message))
}

/// Shows the dependencies, and asks whether to go on.
pub fn confirm(names: &[String], words: &str, caution: &Caution) -> anyhow::Result<()> {
    if caution.yes {
        return Ok(());
    }
    let count = names.len();
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let message = format!("{count} dependencies would be {words}: give --yes, or --dry-run to see them");
        return Err(Failure::error(Code::Usage, message));
    }
    for name in names {
        note(name);
    }
    let _ = write!(io::stderr(), "{count} dependencies will be {words}. Go on? [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    match answer.trim() {
        "y" | "Y" | "yes" => Ok(()),
        _ => Err(Failure::error(Code::Usage, "nothing was done")),
    }
}
