//! A durable step in a file with many dependencies, against one in a file with few.

use std::path::Path;

use halfopen::store::sqlite::Synchronous;
use halfopen::store::{Key, Store, Write};
use halfopen::{Host, ManualClock};
use halfopen_tests::tap::Written;

use crate::measure::{Effort, in_turn, nanos};
use crate::recorded::recorded;
use crate::setting::{self, Result};
use crate::table::{Goal, Row, Rows};

const FEW: u32 = 10;

pub fn rows(effort: Effort) -> Rows {
    let (rounds, count) = (effort.rounds(150), effort.count(100_000));
    const STEPS: u64 = 20;
    let folder = setting::folder()?;
    let opened = recorded(setting::probing(), 1, |breaker, _| setting::open(breaker))?;
    let last = opened.last().ok_or("opening a breaker wrote nothing")?;
    let clock = setting::clock();
    let host_with = |name: &str, count: u32| -> Result<Host> {
        let path = folder.path().join(name);
        filled(&path, count, last)?;
        setting::prober(Host::builder().store(setting::sqlite(&path, Synchronous::Full)?), &clock)
    };
    let (many, few) = (host_with("many.db", count)?, host_with("few.db", FEW)?);
    let measured =
        in_turn(rounds, &mut [&mut || steps(&many, count, &clock, STEPS), &mut || steps(&few, FEW, &clock, STEPS)]);
    let note =
        format!("{count} dependencies in the file, and {FEW}; one at random a step; n = {rounds} × {STEPS} steps");
    Ok(vec![Row::against("many", "µs", Goal::RatioAtMost(1.2), &measured, [0, 1], note)])
}

fn steps(host: &Host, count: u32, clock: &ManualClock, steps: u64) -> f64 {
    nanos(steps, || setting::probe(&host.breaker(named(fastrand::u32(..count))), clock)) / 1e3
}

/// The name of a dependency.
pub fn named(number: u32) -> String {
    format!("dependency-{number:06}")
}

/// A file with the record of so many dependencies.
pub fn filled(path: &Path, count: u32, written: &Written) -> Result<()> {
    let store = setting::sqlite(path, Synchronous::Normal)?;
    // As they come in life: not sorted.
    let mut names: Vec<String> = (0..count).map(named).collect();
    fastrand::shuffle(&mut names);
    for names in names.chunks(1_000) {
        let write = |dependency| Write {
            key: Key { namespace: "default", dependency },
            based_on: 0,
            version: 1,
            data: Some(&written.data),
            transitions: &[],
            history: 1_000,
        };
        store.commit(&names.iter().map(|name| write(name)).collect::<Vec<_>>())?;
    }
    Ok(())
}
