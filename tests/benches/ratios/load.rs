//! What a busy process asks of its store.

use std::sync::Arc;
use std::time::{Duration, Instant};

use halfopen::store::sqlite::Synchronous;
use halfopen::{Host, Policy};
use halfopen_tests::tap::Tap;

use crate::measure::Effort;
use crate::peers::work;
use crate::setting;
use crate::table::{Goal, Row, Rows};

/// A million calls a second, in portions.
const PORTION: u32 = 1_000;
const EVERY: Duration = Duration::from_millis(1);

pub fn rows(effort: Effort) -> Rows {
    let folder = setting::folder()?;
    let store = Arc::new(Tap::new(Arc::new(setting::sqlite(&folder.path().join("breakers.db"), Synchronous::Full)?)));
    let policy = Policy::new().fresh_ms(250);
    let host = Host::builder().shared_store(store.clone()).default_policy(policy).build()?;
    let breaker = host.breaker("payments");
    let (calls, took) = paced(effort.length(Duration::from_secs(10)), || {
        assert_eq!(breaker.call(|| work(true)), Ok(1));
    });
    let (reads, writes) = store.transactions();
    let rate = f64::from(calls) / took;
    let note = format!("{reads} reads and {writes} writes in {took:.1} s at {rate:.0} calls/s");
    let ours = (reads + writes) as f64 / took;
    Ok(vec![Row::alone("store-load", "transactions/s", Goal::OursAtMost(8.0), ours, note)])
}

/// How many calls were made, and in how many seconds.
fn paced(length: Duration, mut call: impl FnMut()) -> (u32, f64) {
    let begun = Instant::now();
    let mut calls = 0;
    let mut due = begun;
    while begun.elapsed() < length {
        for _ in 0..PORTION {
            call();
        }
        calls += PORTION;
        due += EVERY;
        // Who is late catches up, so that the rate holds.
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
    (calls, begun.elapsed().as_secs_f64())
}
