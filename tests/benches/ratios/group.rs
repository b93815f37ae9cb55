//! Many callers whose calls fail at once.

use std::time::Duration;

use halfopen::Outcome;
use halfopen::store::sqlite::Synchronous;

use crate::handwritten::ByHand;
use crate::measure::{Effort, in_turn, per_second};
use crate::recorded::recorded;
use crate::setting;
use crate::table::{Goal, Row, Rows};

const CALLERS: usize = 64;

pub fn rows(effort: Effort) -> Rows {
    let (rounds, length) = (effort.rounds(25), effort.length(Duration::from_millis(250)));
    let folder = setting::folder()?;
    let host = setting::on_file(&folder, setting::counting())?;
    let breaker = host.breaker("payments");
    let permit = setting::admitted(&breaker)?;
    let report = || drop(breaker.report(permit, Outcome::Failure).expect("report"));

    let writes = recorded(setting::counting(), 500, |breaker, clock| {
        clock.advance(Duration::from_millis(1));
        breaker.report(setting::admitted(breaker)?, Outcome::Failure)?;
        Ok(())
    })?;
    let mut by_hand = ByHand::open(&folder.path().join("by-hand.db"), Synchronous::Full)?;
    let mut writes = writes.iter().cycle();
    let mut step = || by_hand.step(writes.next().expect("a write")).expect("a step by hand");
    let measured = in_turn(
        rounds,
        &mut [&mut || per_second(length, vec![report; CALLERS]), &mut || per_second(length, vec![&mut step])],
    );
    let applied = breaker.inspect()?.failures;
    if applied == 0 {
        return Err("no failure was recorded".into());
    }
    let note = format!("rusqlite by hand, a transaction a step; n = {rounds} × {length:?}");
    Ok(vec![Row::against("group-64", "steps/s", Goal::RatioAtLeast(15.0), &measured, [0, 1], note)])
}
