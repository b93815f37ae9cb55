//! One caller, one durable step after the other.

use halfopen::Host;
use halfopen::store::sqlite::Synchronous;

use crate::handwritten::ByHand;
use crate::measure::{Effort, in_turn, nanos};
use crate::recorded::recorded;
use crate::setting::{self, Result};
use crate::table::{Goal, Row, Rows};

/// Acquire and report that change the record, against the same statements and bytes by hand.
pub fn rows(effort: Effort) -> Rows {
    let full = row("durable-step", Synchronous::Full, 1.10, effort)?;
    Ok(vec![full, row("durable-step-normal", Synchronous::Normal, 1.25, effort)?])
}

fn row(name: &'static str, synchronous: Synchronous, limit: f64, effort: Effort) -> Result<Row> {
    let rounds = effort.rounds(300);
    const STEPS: u64 = 20;
    let folder = setting::folder()?;
    let clock = setting::clock();
    let store = setting::sqlite(&folder.path().join("ours.db"), synchronous)?;
    let ours = setting::prober(Host::builder().store(store), &clock)?.breaker("payments");
    setting::open(&ours)?;

    let mut opened = false;
    let mut writes = recorded(setting::probing(), 100, |breaker, clock| {
        if !std::mem::replace(&mut opened, true) {
            setting::open(breaker)?;
        }
        setting::probe(breaker, clock);
        Ok(())
    })?;
    // Without those that opened it.
    let writes = writes.split_off(writes.len() - 200);
    let mut by_hand = ByHand::open(&folder.path().join("by-hand.db"), synchronous)?;
    let mut pairs = writes.chunks(2).cycle();
    let mut step_by_hand = || {
        for write in pairs.next().unwrap_or_default() {
            by_hand.step(write).expect("a step by hand");
        }
    };
    let measured = in_turn(
        rounds,
        &mut [&mut || nanos(STEPS, || setting::probe(&ours, &clock)) / 1e3, &mut || {
            nanos(STEPS, &mut step_by_hand) / 1e3
        }],
    );
    let note = format!("rusqlite by hand, two transactions a step; n = {rounds} × {STEPS} steps");
    Ok(Row::against(name, "µs", Goal::RatioAtMost(limit), &measured, [0, 1], note))
}
