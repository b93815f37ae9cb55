//! Policies: the built-in one, and what makes one valid.

use alloc::string::String;
use alloc::vec::Vec;

use crate::bindings::halfopen::breaker::types::{Error, FailureRate, LostProbe, Policy, PolicyFault, Window};

/// The policy of a dependency that nobody has configured, on a host that sets no default of its own.
pub const BUILT_IN: Policy = Policy {
    consecutive_failures: 5,
    failure_rate: Some(FailureRate { percent: 50, minimum_calls: 20 }),
    slow_calls: None,
    window: Window::Ms(30_000),
    open_ms: 5_000,
    open_multiplier: 2.0,
    open_max_ms: 300_000,
    jitter_percent: 20,
    stable_after_ms: 60_000,
    lease_ms: 5_000,
    probe_max_ms: 60_000,
    probes: 1,
    successes_to_close: 1,
    lost_probe: LostProbe::Reprobe,
    ramp: None,
    fresh_ms: 250,
};

const LONGEST_MS: u64 = 30 * 24 * 60 * 60 * 1_000;
const MOST: u32 = 1_000_000;

/// Refuses a policy that has fields out of range.
pub fn check(policy: &Policy) -> Result<(), Error> {
    match faults(policy) {
        faults if faults.is_empty() => Ok(()),
        faults => Err(Error::InvalidPolicy(faults)),
    }
}

/// All fields of a policy that are out of range, in the order of the contract; none of them for a valid policy.
pub fn faults(policy: &Policy) -> Vec<PolicyFault> {
    let mut faults = Faults(Vec::new());
    let p = policy;
    faults.check("consecutive-failures", p.consecutive_failures <= MOST, "must be 0 (off) to 1,000,000");
    if let Some(rate) = &p.failure_rate {
        faults.percent("failure-rate.percent", rate.percent, 1);
        faults.count("failure-rate.minimum-calls", rate.minimum_calls);
    }
    if let Some(slow) = &p.slow_calls {
        faults.length("slow-calls.slower-than-ms", slow.slower_than_ms, 1);
        faults.percent("slow-calls.percent", slow.percent, 1);
        faults.count("slow-calls.minimum-calls", slow.minimum_calls);
    }
    match p.window {
        Window::Ms(ms) => faults.check(
            "window.ms",
            (10..=86_400_000).contains(&ms) && ms % 10 == 0,
            "must be 10 to 86,400,000 (one day) and a multiple of 10",
        ),
        Window::Calls(calls) => faults.check("window.calls", (1..=1_000).contains(&calls), "must be 1 to 1,000"),
    }
    faults.length("open-ms", p.open_ms, 1);
    faults.check("open-multiplier", (1.0..=100.0).contains(&p.open_multiplier), "must be 1 to 100");
    faults.length("open-max-ms", p.open_max_ms, 1);
    faults.check("open-max-ms", p.open_ms <= p.open_max_ms, "must be at least open-ms");
    faults.percent("jitter-percent", p.jitter_percent, 0);
    faults.length("stable-after-ms", p.stable_after_ms, 0);
    faults.length("lease-ms", p.lease_ms, 1);
    faults.length("probe-max-ms", p.probe_max_ms, 1);
    faults.check("probe-max-ms", p.lease_ms <= p.probe_max_ms, "must be at least lease-ms");
    faults.check("probes", (1..=100).contains(&p.probes), "must be 1 to 100");
    faults.count("successes-to-close", p.successes_to_close);
    if let Some(ramp) = &p.ramp {
        faults.length("ramp.over-ms", ramp.over_ms, 1);
        faults.percent("ramp.from-percent", ramp.from_percent, 0);
    }
    faults.length("fresh-ms", p.fresh_ms, 0);
    faults.0
}

struct Faults(Vec<PolicyFault>);

impl Faults {
    fn check(&mut self, field: &str, valid: bool, why: &str) {
        if !valid {
            self.0.push(PolicyFault { field: String::from(field), why: String::from(why) });
        }
    }

    fn length(&mut self, field: &str, ms: u64, least: u64) {
        let why = match least {
            0 => "must be 0 to 2,592,000,000 (30 days)",
            _ => "must be 1 to 2,592,000,000 (30 days)",
        };
        self.check(field, (least..=LONGEST_MS).contains(&ms), why);
    }

    fn percent(&mut self, field: &str, percent: u32, least: u32) {
        let why = match least {
            0 => "must be 0 to 100",
            _ => "must be 1 to 100",
        };
        self.check(field, (least..=100).contains(&percent), why);
    }

    fn count(&mut self, field: &str, count: u32) {
        self.check(field, (1..=MOST).contains(&count), "must be 1 to 1,000,000");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bindings::halfopen::breaker::types::{Ramp, SlowCalls};

    fn fields(policy: &Policy) -> Vec<String> {
        faults(policy).into_iter().map(|fault| fault.field).collect()
    }

    #[test]
    fn the_built_in_policy_is_valid() {
        assert_eq!(fields(&BUILT_IN), Vec::<String>::new());
    }

    #[test]
    fn a_policy_that_never_trips_is_valid() {
        let never = Policy { consecutive_failures: 0, failure_rate: None, slow_calls: None, ..BUILT_IN };
        assert_eq!(fields(&never), Vec::<String>::new());
    }

    #[test]
    fn all_wrong_fields_are_named_at_once() {
        let wrong = Policy {
            consecutive_failures: 1_000_001,
            failure_rate: Some(FailureRate { percent: 0, minimum_calls: 0 }),
            slow_calls: Some(SlowCalls { slower_than_ms: 0, percent: 101, minimum_calls: 1_000_001 }),
            window: Window::Ms(15),
            open_ms: 0,
            open_multiplier: f64::NAN,
            open_max_ms: u64::MAX,
            jitter_percent: 101,
            stable_after_ms: LONGEST_MS + 1,
            lease_ms: 0,
            probe_max_ms: 0,
            probes: 0,
            successes_to_close: 0,
            lost_probe: LostProbe::Reprobe,
            ramp: Some(Ramp { over_ms: 0, from_percent: 101 }),
            fresh_ms: LONGEST_MS + 1,
        };
        let expected = [
            "consecutive-failures",
            "failure-rate.percent",
            "failure-rate.minimum-calls",
            "slow-calls.slower-than-ms",
            "slow-calls.percent",
            "slow-calls.minimum-calls",
            "window.ms",
            "open-ms",
            "open-multiplier",
            "open-max-ms",
            "jitter-percent",
            "stable-after-ms",
            "lease-ms",
            "probe-max-ms",
            "probes",
            "successes-to-close",
            "ramp.over-ms",
            "ramp.from-percent",
            "fresh-ms",
        ];
        assert_eq!(fields(&wrong), expected);
    }

    #[test]
    fn the_ends_of_each_range_are_in_it() {
        let least = Policy {
            consecutive_failures: 0,
            failure_rate: Some(FailureRate { percent: 1, minimum_calls: 1 }),
            slow_calls: Some(SlowCalls { slower_than_ms: 1, percent: 1, minimum_calls: 1 }),
            window: Window::Ms(10),
            open_ms: 1,
            open_multiplier: 1.0,
            open_max_ms: 1,
            jitter_percent: 0,
            stable_after_ms: 0,
            lease_ms: 1,
            probe_max_ms: 1,
            probes: 1,
            successes_to_close: 1,
            ramp: Some(Ramp { over_ms: 1, from_percent: 0 }),
            fresh_ms: 0,
            ..BUILT_IN
        };
        let most = Policy {
            consecutive_failures: MOST,
            failure_rate: Some(FailureRate { percent: 100, minimum_calls: MOST }),
            slow_calls: Some(SlowCalls { slower_than_ms: LONGEST_MS, percent: 100, minimum_calls: MOST }),
            window: Window::Calls(1_000),
            open_ms: LONGEST_MS,
            open_multiplier: 100.0,
            open_max_ms: LONGEST_MS,
            jitter_percent: 100,
            stable_after_ms: LONGEST_MS,
            lease_ms: LONGEST_MS,
            probe_max_ms: LONGEST_MS,
            probes: 100,
            successes_to_close: MOST,
            ramp: Some(Ramp { over_ms: LONGEST_MS, from_percent: 100 }),
            fresh_ms: LONGEST_MS,
            ..BUILT_IN
        };
        assert_eq!(fields(&least), Vec::<String>::new());
        assert_eq!(fields(&most), Vec::<String>::new());
    }

    #[test]
    fn an_open_window_above_its_limit_and_a_lease_above_the_longest_probe_are_refused() {
        let wrong = Policy { open_ms: 2, open_max_ms: 1, lease_ms: 2, probe_max_ms: 1, ..BUILT_IN };
        assert_eq!(fields(&wrong), ["open-max-ms", "probe-max-ms"]);
    }
}
