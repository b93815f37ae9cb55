//! `halfopen force`, `reset`, `forget` and `prune`.

use anyhow::Context;
use halfopen::{Breaker, Mode, Receipt};

use crate::args::{Acting, Force, ForceMode, Forget, Global, Prune, Reset};
use crate::host;
use crate::shell::output::line;
use crate::shell::text;

/// Forces a state, or removes an override.
pub fn force(args: &Force, global: &Global) -> anyhow::Result<()> {
    let mode = match args.mode {
        ForceMode::Open => Mode::Open,
        ForceMode::Closed => Mode::Closed,
        ForceMode::None => Mode::None,
    };
    let receipt = breaker(&args.dependency, &args.acting, global)?.force(mode, args.lasting, &args.acting.note)?;
    let act = match (mode, args.lasting) {
        (Mode::None, _) => "no override".to_owned(),
        (mode, None) => format!("forced {mode} until the override is removed"),
        (mode, Some(lasting)) => format!("forced {mode} for {}", text::duration(lasting)),
    };
    done(&args.dependency, &act, &receipt)
}

/// Closes the breaker and clears what it has counted.
pub fn reset(args: &Reset, global: &Global) -> anyhow::Result<()> {
    let receipt = breaker(&args.dependency, &args.acting, global)?.reset(&args.acting.note)?;
    done(&args.dependency, "reset", &receipt)
}

/// Removes the record.
pub fn forget(args: &Forget, global: &Global) -> anyhow::Result<()> {
    let receipt = breaker(&args.dependency, &args.acting, global)?.forget(&args.acting.note)?;
    done(&args.dependency, "forgotten", &receipt)
}

/// Removes the records that are no longer used.
pub fn prune(args: &Prune, global: &Global) -> anyhow::Result<()> {
    let pruned = host::open_for(global, args.by.as_deref())?.prune(args.idle)?;
    line(format_args!("{} removed, {} kept", pruned.removed, pruned.kept))?;
    let failures = pruned.failed.len();
    let Some((dependency, error)) = pruned.failed.into_iter().next() else { return Ok(()) };
    let others = if failures > 1 { format!(" and {} others", failures - 1) } else { String::new() };
    Err(error).with_context(|| format!("cannot prune {}{others}", text::escape(&dependency)))
}

fn breaker(dependency: &str, acting: &Acting, global: &Global) -> anyhow::Result<Breaker> {
    Ok(host::open_for(global, acting.by.as_deref())?.breaker(dependency))
}

fn done(dependency: &str, act: &str, receipt: &Receipt) -> anyhow::Result<()> {
    line(format_args!("{}: {act}; it is {}", text::escape(dependency), receipt.state))
}
