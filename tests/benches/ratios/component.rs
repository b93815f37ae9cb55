//! The way through the component, with a store in memory.

use std::time::Duration;

use halfopen::Host;

use crate::measure::{Effort, calls_in, in_turn, nanos};
use crate::setting;
use crate::table::{Goal, Row, Rows};

pub fn rows(effort: Effort) -> Rows {
    let rounds = effort.rounds(300);
    let breaker = Host::builder().default_policy(setting::counting()).build()?.breaker("payments");
    // A record to decode.
    breaker.report(setting::admitted(&breaker)?, halfopen::Outcome::Failure, None)?;
    let mut acquire = || drop(breaker.acquire().expect("acquire"));
    let calls = calls_in(Duration::from_millis(1), &mut acquire);
    let ours = in_turn(rounds, &mut [&mut || nanos(calls, &mut acquire) / 1e3]).median(0);
    let note = format!("acquire while closed, fresh_ms = 0, store in memory; n = {rounds} × {calls} calls");
    Ok(vec![Row::alone("component-step", "µs", Goal::OursAtMost(1.0), ours, note)])
}
