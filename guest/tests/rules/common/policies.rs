//! Policies at the ends of their ranges, and generated ones.

use halfopen_guest::policy::{FailureRate, LostProbe, Policy, Ramp, SlowCalls, WindowSpan};
use proptest::prelude::*;
use serde_json::{Map, Value};

/// The longest length of time.
pub const LONGEST_MS: u64 = 2_592_000_000;
/// The greatest count.
pub const MOST: u32 = 1_000_000;

/// Each number at its least.
pub fn least() -> Policy {
    Policy {
        consecutive_failures: 0,
        failure_rate: Some(FailureRate { percent: 1, minimum_calls: 1 }),
        slow_calls: Some(SlowCalls { slower_than_ms: 1, percent: 1, minimum_calls: 1 }),
        window: WindowSpan::Ms(10),
        open_ms: 1,
        open_multiplier: 1.0,
        open_max_ms: 1,
        jitter_percent: 0,
        stable_after_ms: 0,
        lease_ms: 1,
        probe_max_ms: 1,
        probes: 1,
        successes_to_close: 1,
        lost_probe: LostProbe::Reprobe,
        ramp: Some(Ramp { over_ms: 1, from_percent: 0 }),
        fresh_ms: 0,
    }
}

/// Each number at its most, and each part switched on.
pub fn most() -> Policy {
    Policy {
        consecutive_failures: MOST,
        failure_rate: Some(FailureRate { percent: 100, minimum_calls: MOST }),
        slow_calls: Some(SlowCalls { slower_than_ms: LONGEST_MS, percent: 100, minimum_calls: MOST }),
        window: WindowSpan::Calls(1_000),
        open_ms: LONGEST_MS,
        open_multiplier: 100.0,
        open_max_ms: LONGEST_MS,
        jitter_percent: 100,
        stable_after_ms: LONGEST_MS,
        lease_ms: LONGEST_MS,
        probe_max_ms: LONGEST_MS,
        probes: 100,
        successes_to_close: MOST,
        lost_probe: LostProbe::Reopen,
        ramp: Some(Ramp { over_ms: LONGEST_MS, from_percent: 100 }),
        fresh_ms: LONGEST_MS,
    }
}

/// Any JSON, often with the keys of a policy.
pub fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0u64..200).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    let whole: Value = serde_json::from_str(&most().to_json()).expect("JSON");
    let keys: Vec<String> = whole.as_object().expect("an object").keys().cloned().collect();
    let key = prop_oneof![proptest::sample::select(keys), "[a-z_.]{0,12}", Just("percent".into()), Just("ms".into())];
    leaf.prop_recursive(3, 40, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((key.clone(), inner), 0..8)
                .prop_map(|entries| Value::from(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Any valid policy.
pub fn any_policy() -> impl Strategy<Value = Policy> {
    let tables = (
        proptest::option::of((1u32..=100, 1u32..=MOST)),
        proptest::option::of((1..=LONGEST_MS, 1u32..=100, 1u32..=MOST)),
        proptest::option::of((1..=LONGEST_MS, 0u32..=100)),
        prop_oneof![
            (1u64..=8_640_000).prop_map(|tens| WindowSpan::Ms(tens * 10)),
            (1u32..=1_000).prop_map(WindowSpan::Calls)
        ],
    );
    let lengths = (1..=LONGEST_MS, 1..=LONGEST_MS, 1..=LONGEST_MS, 1..=LONGEST_MS, 0..=LONGEST_MS, 0..=LONGEST_MS);
    let numbers = (0..=MOST, 1f64..=100.0, 0u32..=100, 1u32..=100, 1..=MOST, any::<bool>());
    (tables, lengths, numbers).prop_map(|((rate, slow, ramp, window), lengths, numbers)| Policy {
        consecutive_failures: numbers.0,
        failure_rate: rate.map(|(percent, minimum_calls)| FailureRate { percent, minimum_calls }),
        slow_calls: slow.map(|(slower_than_ms, percent, minimum_calls)| SlowCalls {
            slower_than_ms,
            percent,
            minimum_calls,
        }),
        window,
        open_ms: lengths.0.min(lengths.1),
        open_multiplier: numbers.1,
        open_max_ms: lengths.0.max(lengths.1),
        jitter_percent: numbers.2,
        stable_after_ms: lengths.4,
        lease_ms: lengths.2.min(lengths.3),
        probe_max_ms: lengths.2.max(lengths.3),
        probes: numbers.3,
        successes_to_close: numbers.4,
        lost_probe: if numbers.5 { LostProbe::Reopen } else { LostProbe::Reprobe },
        ramp: ramp.map(|(over_ms, from_percent)| Ramp { over_ms, from_percent }),
        fresh_ms: lengths.5,
    })
}
