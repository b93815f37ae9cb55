//! Policies: the built-in one, and what makes one valid.

use alloc::vec::Vec;

use crate::contract::{Error, FailureRate, LostProbe, Maybe, Policy, PolicyFault, Ramp, SlowCalls, Window};
use crate::form::{Form, Range};

/// The policy of a dependency that nobody has configured, on a host that sets no default of its own.
pub const BUILT_IN: Policy = Policy {
    consecutive_failures: 5,
    failure_rate: Maybe::Some(FailureRate { percent: 50, minimum_calls: 20 }),
    slow_calls: Maybe::None,
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
    ramp: Maybe::None,
    fresh_ms: 250,
};

const LONGEST_MS: u64 = 30 * 24 * 60 * 60 * 1_000;
const MOST: u32 = 1_000_000;

const OFF_OR_COUNT: Range =
    Range { least: 0, most: MOST as u64, text: "must be a whole number from 0 (off) to 1,000,000" };
const COUNT: Range = Range { least: 1, most: MOST as u64, text: "must be a whole number from 1 to 1,000,000" };
const LENGTH: Range =
    Range { least: 1, most: LONGEST_MS, text: "must be a whole number from 1 to 2,592,000,000 (30 days)" };
const LENGTH_OR_0: Range =
    Range { least: 0, most: LONGEST_MS, text: "must be a whole number from 0 to 2,592,000,000 (30 days)" };
const UP_TO_100: Range = Range { least: 1, most: 100, text: "must be a whole number from 1 to 100" };
const PERCENT_OR_0: Range = Range { least: 0, most: 100, text: "must be a whole number from 0 to 100" };
const WINDOW_MS: Range = Range { least: 10, most: 86_400_000, text: WINDOW_MS_TEXT };
const WINDOW_MS_TEXT: &str = "must be a multiple of 10 from 10 to 86,400,000 (one day)";
const WINDOW_CALLS: Range = Range { least: 1, most: 1_000, text: "must be a whole number from 1 to 1,000" };
/// Of positive floating-point numbers the greater one has the greater bits; all others have greater bits still.
const MULTIPLIER: Range = Range { least: 1f64.to_bits(), most: 100f64.to_bits(), text: "must be 1 to 100" };

/// Refuses a policy that has fields out of range.
pub fn check(policy: &Policy) -> Result<(), Error> {
    match faults(policy) {
        faults if faults.is_empty() => Ok(()),
        faults => Err(Error::InvalidPolicy(faults.into())),
    }
}

/// All fields of a policy that are out of range, in the order of the contract; none of them for a valid policy.
pub fn faults(policy: &Policy) -> Vec<PolicyFault> {
    let mut form = Form::writing(Vec::new());
    describe(&mut policy.clone(), &mut form);
    form.into_faults()
}

/// The numbers that make up a policy, with their ranges.
pub fn describe(p: &mut Policy, form: &mut Form) {
    form.field32("consecutive-failures", &mut p.consecutive_failures, &OFF_OR_COUNT);
    optional(&mut p.failure_rate, FailureRate { percent: 0, minimum_calls: 0 }, form);
    if let Maybe::Some(rate) = &mut p.failure_rate {
        form.field32("failure-rate.percent", &mut rate.percent, &UP_TO_100);
        form.field32("failure-rate.minimum-calls", &mut rate.minimum_calls, &COUNT);
    }
    optional(&mut p.slow_calls, SlowCalls { slower_than_ms: 0, percent: 0, minimum_calls: 0 }, form);
    if let Maybe::Some(slow) = &mut p.slow_calls {
        form.field("slow-calls.slower-than-ms", &mut slow.slower_than_ms, &LENGTH);
        form.field32("slow-calls.percent", &mut slow.percent, &UP_TO_100);
        form.field32("slow-calls.minimum-calls", &mut slow.minimum_calls, &COUNT);
    }
    let counts_calls = form.flag(matches!(p.window, Window::Calls(_)));
    if form.reads() {
        p.window = if counts_calls { Window::Calls(0) } else { Window::Ms(0) };
    }
    match &mut p.window {
        Window::Ms(ms) => {
            form.field("window.ms", ms, &WINDOW_MS);
            // One fault is enough for a field.
            form.check("window.ms", !WINDOW_MS.holds(*ms) || *ms % 10 == 0, WINDOW_MS.text);
        }
        Window::Calls(calls) => form.field32("window.calls", calls, &WINDOW_CALLS),
    }
    form.field("open-ms", &mut p.open_ms, &LENGTH);
    let mut multiplier = p.open_multiplier.to_bits();
    form.field("open-multiplier", &mut multiplier, &MULTIPLIER);
    p.open_multiplier = f64::from_bits(multiplier);
    form.field("open-max-ms", &mut p.open_max_ms, &LENGTH);
    form.check("open-max-ms", in_order(p.open_ms, p.open_max_ms), "must be at least open-ms");
    form.field32("jitter-percent", &mut p.jitter_percent, &PERCENT_OR_0);
    form.field("stable-after-ms", &mut p.stable_after_ms, &LENGTH_OR_0);
    form.field("lease-ms", &mut p.lease_ms, &LENGTH);
    form.field("probe-max-ms", &mut p.probe_max_ms, &LENGTH);
    form.check("probe-max-ms", in_order(p.lease_ms, p.probe_max_ms), "must be at least lease-ms");
    form.field32("probes", &mut p.probes, &UP_TO_100);
    form.field32("successes-to-close", &mut p.successes_to_close, &COUNT);
    p.lost_probe = if form.flag(p.lost_probe == LostProbe::Reopen) { LostProbe::Reopen } else { LostProbe::Reprobe };
    optional(&mut p.ramp, Ramp { over_ms: 0, from_percent: 0 }, form);
    if let Maybe::Some(ramp) = &mut p.ramp {
        form.field("ramp.over-ms", &mut ramp.over_ms, &LENGTH);
        form.field32("ramp.from-percent", &mut ramp.from_percent, &PERCENT_OR_0);
    }
    form.field("fresh-ms", &mut p.fresh_ms, &LENGTH_OR_0);
}

/// Whether a length is at most its limit. Where either is out of its own range, that is the fault.
fn in_order(length: u64, limit: u64) -> bool {
    length <= limit || !LENGTH.holds(length) || !LENGTH.holds(limit)
}

/// Whether a table of a policy is there. One that is read starts out empty.
fn optional<T: Copy>(table: &mut Maybe<T>, empty: T, form: &mut Form) {
    let is_there = form.flag(matches!(table, Maybe::Some(_)));
    if form.reads() {
        *table = is_there.then_some(empty).into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(policy: &Policy) -> Vec<String> {
        faults(policy).into_iter().map(|fault| String::from(&*fault.field)).collect()
    }

    #[test]
    fn the_built_in_policy_is_valid() {
        assert_eq!(fields(&BUILT_IN), Vec::<String>::new());
    }

    #[test]
    fn a_policy_that_never_trips_is_valid() {
        let never = Policy { consecutive_failures: 0, failure_rate: Maybe::None, slow_calls: Maybe::None, ..BUILT_IN };
        assert_eq!(fields(&never), Vec::<String>::new());
    }

    #[test]
    fn all_wrong_fields_are_named_at_once() {
        let wrong = Policy {
            consecutive_failures: 1_000_001,
            failure_rate: Maybe::Some(FailureRate { percent: 0, minimum_calls: 0 }),
            slow_calls: Maybe::Some(SlowCalls { slower_than_ms: 0, percent: 101, minimum_calls: 1_000_001 }),
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
            ramp: Maybe::Some(Ramp { over_ms: 0, from_percent: 101 }),
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
            failure_rate: Maybe::Some(FailureRate { percent: 1, minimum_calls: 1 }),
            slow_calls: Maybe::Some(SlowCalls { slower_than_ms: 1, percent: 1, minimum_calls: 1 }),
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
            ramp: Maybe::Some(Ramp { over_ms: 1, from_percent: 0 }),
            fresh_ms: 0,
            ..BUILT_IN
        };
        let most = Policy {
            consecutive_failures: MOST,
            failure_rate: Maybe::Some(FailureRate { percent: 100, minimum_calls: MOST }),
            slow_calls: Maybe::Some(SlowCalls { slower_than_ms: LONGEST_MS, percent: 100, minimum_calls: MOST }),
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
            ramp: Maybe::Some(Ramp { over_ms: LONGEST_MS, from_percent: 100 }),
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

    #[test]
    fn one_mistake_is_one_fault() {
        for wrong in [
            Policy { open_ms: u64::MAX, ..BUILT_IN },
            Policy { open_max_ms: 0, ..BUILT_IN },
            Policy { lease_ms: u64::MAX, ..BUILT_IN },
            Policy { probe_max_ms: 0, ..BUILT_IN },
            Policy { window: Window::Ms(5), ..BUILT_IN },
            Policy { window: Window::Ms(86_400_001), ..BUILT_IN },
            Policy { window: Window::Ms(15), ..BUILT_IN },
        ] {
            assert_eq!(fields(&wrong).len(), 1, "{wrong:?}");
        }
    }
}
