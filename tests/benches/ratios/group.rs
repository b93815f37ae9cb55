//! Many callers whose calls fail at once.

use std::time::Duration;

use halfopen::Outcome;
use halfopen::store::sqlite::Synchronous;

use crate::handwritten::ByHand;
use crate::measure::{in_turn, per_second};
use crate::setting::{self, Result};
use crate::table::{Goal, Row};
use crate::tap;

const CALLERS: usize = 64;
const ROUNDS: usize = 9;
const LENGTH: Duration = Duration::from_millis(500);

pub fn rows() -> Result<Vec<Row>> {
    let folder = setting::folder()?;
    let host = setting::on_file(&folder, setting::counting())?;
    let breaker = host.breaker("payments");
    let permit = setting::admitted(&breaker)?;
    let report = || drop(breaker.report(permit, Outcome::Failure, None).expect("report"));

    let writes = tap::recorded(setting::counting(), 500, |breaker, clock| {
        clock.advance(Duration::from_millis(1));
        breaker.report(setting::admitted(breaker)?, Outcome::Failure, None)?;
        Ok(())
    })?;
    let mut by_hand = ByHand::open(&folder.path().join("by-hand.db"), Synchronous::Full)?;
    let mut writes = writes.iter().cycle();
    let mut step = || by_hand.step(writes.next().expect("a write")).expect("a step by hand");
    let [ours, peer] = in_turn(
        ROUNDS,
        &mut [&mut || per_second(LENGTH, vec![report; CALLERS]), &mut || per_second(LENGTH, vec![&mut step])],
    );
    let applied = breaker.inspect()?.failures;
    if applied == 0 {
        return Err("no failure was recorded".into());
    }
    Ok(vec![Row {
        name: "group-64",
        ours: Some(ours),
        peer: Some(peer),
        unit: "steps/s",
        goal: Goal::RatioAtLeast(15.0),
        note: format!("rusqlite by hand, a transaction a step; n = {ROUNDS} × {LENGTH:?}"),
    }])
}
