//! `halfopen prune`: removes the records that are no longer used.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use halfopen::engine::{Answer, Input, Operation, Request};
use halfopen::store::Key;
use halfopen::{BreakerError, Entropy, Host, Operator, Pruned};
use serde::Serialize;

use super::act::confirm;
use super::names::matching;
use crate::args::{Global, Prune};
use crate::host;
use crate::shell::output::{json, line};
use crate::shell::progress::Progress;
use crate::shell::text;

#[derive(Serialize)]
struct Document<'a> {
    removed: u64,
    kept: u64,
    failed: Vec<&'a str>,
    dry_run: bool,
}

/// Removes the records.
pub fn prune(args: &Prune, global: &Global) -> anyhow::Result<()> {
    let dry_run = args.caution.dry_run;
    let host = if dry_run { host::open_to_read(global)? } else { host::open_for(global, args.by.as_deref())? };
    let all = host.list()?;
    let names = match &args.dependency {
        Some(pattern) => matching(&host, pattern, &all)?,
        None => all,
    };
    if args.dependency.is_some() && !dry_run {
        confirm(&names, "examined", &args.caution)?;
    }
    let pruned = if dry_run { rehearse(&host, &names, args)? } else { remove(&host, &names, args.idle)? };
    let Pruned { removed, kept, failed } = pruned;
    match args.format.json {
        true => {
            json(Document { removed, kept, failed: failed.iter().map(|(name, _)| name.as_str()).collect(), dry_run })?
        }
        false if dry_run => line(format_args!("{removed} would be removed, {kept} kept"))?,
        false => line(format_args!("{removed} removed, {kept} kept"))?,
    }
    let failures = failed.len();
    let Some((dependency, error)) = failed.into_iter().next() else { return Ok(()) };
    let others = if failures > 1 { format!(" and {} others", failures - 1) } else { String::new() };
    Err(error).with_context(|| format!("cannot prune {}{others}", text::escape(&dependency)))
}

fn remove(host: &Host, names: &[String], idle: Duration) -> anyhow::Result<Pruned> {
    let (progress, all) = (Progress::new(), names.len());
    Ok(host.prune_these(names, idle, |examined| progress.at(format_args!("{examined} of {all} records examined")))?)
}

/// Counts, and shows, the records that would be removed.
fn rehearse(host: &Host, names: &[String], args: &Prune) -> anyhow::Result<Pruned> {
    let mut pruned = Pruned::default();
    for name in names {
        match would_prune(host, name, args.idle) {
            Ok(true) if !args.format.json => {
                pruned.removed += 1;
                line(format_args!("{}: would be removed", text::escape(name)))?;
            }
            Ok(true) => pruned.removed += 1,
            Ok(false) => pruned.kept += 1,
            Err(error) => pruned.failed.push((name.clone(), error)),
        }
    }
    Ok(pruned)
}

/// Whether the engine would remove a record now. Its answer is not committed.
fn would_prune(host: &Host, dependency: &str, idle: Duration) -> Result<bool, BreakerError> {
    let snapshot = host.store().load(Key { namespace: host.namespace(), dependency })?;
    let idle = u64::try_from(idle.as_millis()).unwrap_or(u64::MAX);
    let operation = Operation::Prune { idle, operator: Operator::default() };
    let input = Input {
        request: &Request { dependency: dependency.into(), operation },
        now: snapshot.at.unwrap_or_else(text::now),
        snapshot: &snapshot,
        entropy: &Arc::new(Entropy::new(None)),
    };
    match host.engine().evaluate(&input)?.answer {
        Answer::Pruned(removed) => Ok(removed),
        other => Err(halfopen::EngineError::Broken { why: format!("it answered a prune with {other:?}") }.into()),
    }
}
