//! The way through the component, with a store in memory.

use std::time::Duration;

use halfopen::Host;

use crate::measure::{calls_in, in_turn, nanos};
use crate::setting::{self, Result};
use crate::table::{Goal, Row};

pub fn rows() -> Result<Vec<Row>> {
    const ROUNDS: usize = 200;
    let breaker = Host::builder().default_policy(setting::counting()).build()?.breaker("payments");
    // A record to decode.
    breaker.report(setting::admitted(&breaker)?, halfopen::Outcome::Failure, None)?;
    let mut acquire = || drop(breaker.acquire().expect("acquire"));
    let calls = calls_in(Duration::from_millis(1), &mut acquire);
    let [ours] = in_turn(ROUNDS, &mut [&mut || nanos(calls, &mut acquire) / 1e3]);
    Ok(vec![Row {
        name: "component-step",
        ours: Some(ours),
        peer: None,
        unit: "µs",
        goal: Goal::OursAtMost(1.0),
        note: format!("acquire while closed, fresh_ms = 0, store in memory; n = {ROUNDS} × {calls} calls"),
    }])
}
