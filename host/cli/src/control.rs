//! `halfopen force`, `reset`, `forget` and `prune`.

use anyhow::Context;
use halfopen::{Mode, Receipt};

use crate::args::{self, Force, Global, Prune, Target};
use crate::output::line;
use crate::{open, text};

/// Forces a state, or takes that back.
pub fn force(args: &Force, global: &Global) -> anyhow::Result<()> {
    let mode = match args.mode {
        args::Mode::Open => Mode::Open,
        args::Mode::Closed => Mode::Closed,
        args::Mode::None => Mode::None,
    };
    let breaker = open::host(global)?.breaker(args.dependency.as_str());
    let receipt = breaker.force(mode, args.lasting, &args.note)?;
    let what = match (mode, args.lasting) {
        (Mode::None, _) => "nothing is forced".to_owned(),
        (mode, None) => format!("forced {mode} until taken back"),
        (mode, Some(lasting)) => format!("forced {mode} for {}", text::duration(lasting)),
    };
    done(&args.dependency, &what, &receipt)
}

/// Closes it and lets it forget what was.
pub fn reset(args: &Target, global: &Global) -> anyhow::Result<()> {
    let receipt = open::host(global)?.breaker(args.dependency.as_str()).reset()?;
    done(&args.dependency, "reset", &receipt)
}

/// Removes all that is known of it.
pub fn forget(args: &Target, global: &Global) -> anyhow::Result<()> {
    let receipt = open::host(global)?.breaker(args.dependency.as_str()).forget()?;
    done(&args.dependency, "forgotten", &receipt)
}

/// Removes the records that nobody needs any more.
pub fn prune(args: &Prune, global: &Global) -> anyhow::Result<()> {
    let pruned = open::host(global)?.prune(args.idle)?;
    line(format_args!("{} removed, {} kept", pruned.removed, pruned.kept))?;
    let failures = pruned.failed.len();
    let Some((dependency, error)) = pruned.failed.into_iter().next() else { return Ok(()) };
    let others = if failures > 1 { format!(" and {} others", failures - 1) } else { String::new() };
    Err(error).with_context(|| format!("cannot prune {}{others}", text::escape(&dependency)))
}

fn done(dependency: &str, what: &str, receipt: &Receipt) -> anyhow::Result<()> {
    line(format_args!("{}: {what}; it is {}", text::escape(dependency), receipt.state))
}
