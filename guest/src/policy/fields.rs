//! The fields of a policy, each with its key and its range, in the order of the contract.

use super::range::{COUNT, COUNT_OR_0, LENGTH, LENGTH_OR_0, Range, UP_TO_100, UP_TO_100_OR_0, WINDOW_CALLS, WINDOW_MS};
use super::reader::Reader;
use super::types::{FailureRate, Policy, Ramp, SlowCalls, WindowSpan};

impl Reader<'_> {
    /// Reads the fields that are given, and checks all. The key of a field in a table is `table.key`.
    pub fn policy(&mut self, p: &mut Policy) {
        self.number32("consecutive_failures", &mut p.consecutive_failures, &COUNT_OR_0);
        self.table("failure_rate", &mut p.failure_rate, FailureRate { percent: 1, minimum_calls: 1 });
        if let Some(rate) = &mut p.failure_rate {
            self.number32("failure_rate.percent", &mut rate.percent, &UP_TO_100);
            self.number32("failure_rate.minimum_calls", &mut rate.minimum_calls, &COUNT);
        }
        self.table("slow_calls", &mut p.slow_calls, SlowCalls { slower_than_ms: 1, percent: 1, minimum_calls: 1 });
        if let Some(slow) = &mut p.slow_calls {
            self.number("slow_calls.slower_than_ms", &mut slow.slower_than_ms, &LENGTH);
            self.number32("slow_calls.percent", &mut slow.percent, &UP_TO_100);
            self.number32("slow_calls.minimum_calls", &mut slow.minimum_calls, &COUNT);
        }
        self.window("window", &mut p.window);
        match &mut p.window {
            WindowSpan::Ms(ms) => self.number("window.ms", ms, &WINDOW_MS),
            WindowSpan::Calls(calls) => self.number32("window.calls", calls, &WINDOW_CALLS),
        }
        self.number("open_ms", &mut p.open_ms, &LENGTH);
        self.multiplier("open_multiplier", &mut p.open_multiplier);
        self.number("open_max_ms", &mut p.open_max_ms, &LENGTH);
        self.at_most(("open_ms", p.open_ms), ("open_max_ms", p.open_max_ms));
        self.number32("jitter_percent", &mut p.jitter_percent, &UP_TO_100_OR_0);
        self.number("stable_after_ms", &mut p.stable_after_ms, &LENGTH_OR_0);
        self.number("lease_ms", &mut p.lease_ms, &LENGTH);
        self.number("probe_max_ms", &mut p.probe_max_ms, &LENGTH);
        self.at_most(("lease_ms", p.lease_ms), ("probe_max_ms", p.probe_max_ms));
        self.number32("probes", &mut p.probes, &UP_TO_100);
        self.number32("successes_to_close", &mut p.successes_to_close, &COUNT);
        self.lost_probe("lost_probe", &mut p.lost_probe);
        self.table("ramp", &mut p.ramp, Ramp { over_ms: 1, from_percent: 0 });
        if let Some(ramp) = &mut p.ramp {
            self.number("ramp.over_ms", &mut ramp.over_ms, &LENGTH);
            self.number32("ramp.from_percent", &mut ramp.from_percent, &UP_TO_100_OR_0);
        }
        self.number("fresh_ms", &mut p.fresh_ms, &LENGTH_OR_0);
    }

    fn number32(&mut self, key: &'static str, number: &mut u32, range: &Range) {
        let mut wide = u64::from(*number);
        self.number(key, &mut wide, range);
        // Each range of such a field ends far below.
        *number = u32::try_from(wide).unwrap_or(u32::MAX);
    }
}
