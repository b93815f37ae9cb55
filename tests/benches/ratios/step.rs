//! The way through an engine, with a store in memory.

use std::time::Duration;

use halfopen::{Host, HostBuilder, Outcome};

use crate::measure::{Effort, calls_in, in_turn, nanos};
use crate::setting;
use crate::table::{Goal, Row, Rows};

/// An acquire through the component.
pub fn component(effort: Effort) -> Rows {
    row("component-step", 3.0, Host::builder(), effort)
}

/// An acquire through the native engine.
pub fn native(effort: Effort) -> Rows {
    row("native-step", 1.0, Host::builder().native(), effort)
}

fn row(name: &'static str, limit: f64, host: HostBuilder, effort: Effort) -> Rows {
    let rounds = effort.rounds(300);
    let breaker = host.default_policy(setting::counting()).build()?.breaker("payments");
    // A record to decode.
    breaker.report(setting::admitted(&breaker)?, Outcome::Failure)?;
    let mut acquire = || drop(breaker.acquire().expect("acquire"));
    let calls = calls_in(Duration::from_millis(1), &mut acquire);
    let ours = in_turn(rounds, &mut [&mut || nanos(calls, &mut acquire) / 1e3]).median(0);
    let note = format!("acquire while closed, fresh_ms = 0, store in memory; n = {rounds} × {calls} calls");
    Ok(vec![Row::alone(name, "µs", Goal::OursAtMost(limit), ours, note)])
}
