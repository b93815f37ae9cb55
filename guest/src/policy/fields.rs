//! The fields of a policy, each with its key and its range, in the order of the contract.

use super::range::{COUNT, COUNT_OR_0, LENGTH, LENGTH_OR_0, Range, UP_TO_100, UP_TO_100_OR_0, WINDOW_CALLS, WINDOW_MS};
use super::types::{FailureRate, LostProbe, Policy, Ramp, SlowCalls, WindowSpan};

/// Reads or checks the fields that [`visit`] shows. The key of a field in a table is `table.key`.
pub trait Fields {
    /// A whole number.
    fn number(&mut self, key: &'static str, number: &mut u64, range: &Range);
    /// The backoff multiplier.
    fn multiplier(&mut self, key: &'static str, multiplier: &mut f64);
    /// Whether a table is switched on, given whether it is on so far.
    fn table(&mut self, key: &'static str, is_on: bool) -> bool;
    /// Which of the two kinds of window it is.
    fn window(&mut self, key: &'static str, window: &mut WindowSpan);
    /// What follows a lost probe.
    fn lost_probe(&mut self, key: &'static str, lost_probe: &mut LostProbe);
    /// Two lengths, of which the first is at most the second.
    fn at_most(&mut self, length: (&'static str, u64), limit: (&'static str, u64));
}

/// Shows all fields of a policy.
pub fn visit(p: &mut Policy, fields: &mut dyn Fields) {
    number32(fields, "consecutive_failures", &mut p.consecutive_failures, &COUNT_OR_0);
    table(fields, "failure_rate", &mut p.failure_rate, FailureRate { percent: 1, minimum_calls: 1 });
    if let Some(rate) = &mut p.failure_rate {
        number32(fields, "failure_rate.percent", &mut rate.percent, &UP_TO_100);
        number32(fields, "failure_rate.minimum_calls", &mut rate.minimum_calls, &COUNT);
    }
    table(fields, "slow_calls", &mut p.slow_calls, SlowCalls { slower_than_ms: 1, percent: 1, minimum_calls: 1 });
    if let Some(slow) = &mut p.slow_calls {
        fields.number("slow_calls.slower_than_ms", &mut slow.slower_than_ms, &LENGTH);
        number32(fields, "slow_calls.percent", &mut slow.percent, &UP_TO_100);
        number32(fields, "slow_calls.minimum_calls", &mut slow.minimum_calls, &COUNT);
    }
    fields.window("window", &mut p.window);
    match &mut p.window {
        WindowSpan::Ms(ms) => fields.number("window.ms", ms, &WINDOW_MS),
        WindowSpan::Calls(calls) => number32(fields, "window.calls", calls, &WINDOW_CALLS),
    }
    fields.number("open_ms", &mut p.open_ms, &LENGTH);
    fields.multiplier("open_multiplier", &mut p.open_multiplier);
    fields.number("open_max_ms", &mut p.open_max_ms, &LENGTH);
    fields.at_most(("open_ms", p.open_ms), ("open_max_ms", p.open_max_ms));
    number32(fields, "jitter_percent", &mut p.jitter_percent, &UP_TO_100_OR_0);
    fields.number("stable_after_ms", &mut p.stable_after_ms, &LENGTH_OR_0);
    fields.number("lease_ms", &mut p.lease_ms, &LENGTH);
    fields.number("probe_max_ms", &mut p.probe_max_ms, &LENGTH);
    fields.at_most(("lease_ms", p.lease_ms), ("probe_max_ms", p.probe_max_ms));
    number32(fields, "probes", &mut p.probes, &UP_TO_100);
    number32(fields, "successes_to_close", &mut p.successes_to_close, &COUNT);
    fields.lost_probe("lost_probe", &mut p.lost_probe);
    table(fields, "ramp", &mut p.ramp, Ramp { over_ms: 1, from_percent: 0 });
    if let Some(ramp) = &mut p.ramp {
        fields.number("ramp.over_ms", &mut ramp.over_ms, &LENGTH);
        number32(fields, "ramp.from_percent", &mut ramp.from_percent, &UP_TO_100_OR_0);
    }
    fields.number("fresh_ms", &mut p.fresh_ms, &LENGTH_OR_0);
}

fn number32(fields: &mut dyn Fields, key: &'static str, number: &mut u32, range: &Range) {
    let mut wide = u64::from(*number);
    fields.number(key, &mut wide, range);
    // Each range of such a field ends far below.
    *number = u32::try_from(wide).unwrap_or(u32::MAX);
}

/// A table that is switched on now starts out with `least`, and its fields are then read.
fn table<T>(fields: &mut dyn Fields, key: &'static str, table: &mut Option<T>, least: T) {
    *table = match (fields.table(key, table.is_some()), table.take()) {
        (false, _) => None,
        (true, Some(table)) => Some(table),
        (true, None) => Some(least),
    };
}
