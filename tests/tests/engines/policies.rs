//! Policies as JSON texts, drawn at random.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

fn length(least: u64) -> impl Strategy<Value = u64> {
    prop_oneof![8 => least..50, 2 => least..10_000, 1 => Just(2_592_000_000_u64)]
}

fn lost_probe() -> impl Strategy<Value = &'static str> {
    select(vec!["reprobe", "reopen"])
}

/// A valid policy, small enough that something happens under it.
pub fn valid() -> impl Strategy<Value = Value> {
    let percent = || 1_u32..=100;
    let trips = (
        0_u32..5,
        option::of((percent(), 1_u32..5).prop_map(|(percent, least)| json!({"percent": percent, "minimum_calls": least}))),
        option::of((1_u64..100, percent(), 1_u32..5).prop_map(|(slower_than_ms, percent, minimum_calls)| {
            json!({"slower_than_ms": slower_than_ms, "percent": percent, "minimum_calls": minimum_calls})
        })),
        prop_oneof![
            (1_u64..200).prop_map(|tens| json!({"ms": tens * 10})),
            Just(json!({"ms": 86_400_000})),
            (1_u32..20).prop_map(|calls| json!({"calls": calls})),
            Just(json!({"calls": 1_000})),
        ],
    );
    let multiplier = prop_oneof![Just(1.0), Just(2.0), Just(100.0), 1.0..100.0];
    let opens = (length(1), length(0), multiplier, 0_u32..=100, length(0));
    let probes = (length(1), length(0), 1_u32..4, 1_u32..4, lost_probe());
    let ramp = (length(1), 0_u32..=100).prop_map(|(over_ms, from)| json!({"over_ms": over_ms, "from_percent": from}));
    (trips, opens, probes, option::of(ramp), length(0)).prop_map(|(trips, opens, probes, ramp, fresh_ms)| {
        json!({
            "consecutive_failures": trips.0, "failure_rate": trips.1, "slow_calls": trips.2, "window": trips.3,
            "open_ms": opens.0, "open_max_ms": (opens.0 + opens.1).min(2_592_000_000), "open_multiplier": opens.2,
            "jitter_percent": opens.3, "stable_after_ms": opens.4,
            "lease_ms": probes.0, "probe_max_ms": (probes.0 + probes.1).min(2_592_000_000), "probes": probes.2,
            "successes_to_close": probes.3, "lost_probe": probes.4, "ramp": ramp, "fresh_ms": fresh_ms,
        })
    })
}

/// A value that may be at any of the places where a policy goes wrong, as it is written.
fn wild_value() -> impl Strategy<Value = String> {
    let literals = vec![
        "null",
        "true",
        "\"off\"",
        "\"reopen\"",
        "\"5s\"",
        "-1",
        "-0.0",
        "0",
        "0.5",
        "1.0",
        "1e2",
        "99.99999999999999",
        "100",
        "101",
        "100.00000000000002",
        "0.9999999999999999",
        "1000000",
        "1000001",
        "2592000000",
        "2592000001",
        "86400010",
        "4294967296",
        "18446744073709551615",
        "18446744073709551616",
        "1e30",
        "1e-400",
        "[]",
        "[1]",
        "{}",
        r#"{"ms": 15}"#,
        r#"{"ms": 10, "calls": 1}"#,
        r#"{"percent": 0, "minimum_calls": 0}"#,
        r#"{"percent": 50}"#,
        r#"{"slower_than_ms": 1, "percent": 1, "minimum_calls": 1, "more": 1}"#,
        r#"{"over_ms": 1, "from_percent": 101}"#,
    ];
    prop_oneof![
        6 => select(literals).prop_map(str::to_owned),
        1 => any::<u64>().prop_map(|number| number.to_string()),
        1 => any::<f64>().prop_filter("JSON has finite numbers alone", |number| number.is_finite()).prop_map(|number| format!("{number:?}")),
    ]
}

const KEYS: [&str; 18] = [
    "consecutive_failures",
    "failure_rate",
    "slow_calls",
    "window",
    "open_ms",
    "open_multiplier",
    "open_max_ms",
    "jitter_percent",
    "stable_after_ms",
    "lease_ms",
    "probe_max_ms",
    "probes",
    "successes_to_close",
    "lost_probe",
    "ramp",
    "fresh_ms",
    "open_msec",
    "nonsense",
];

/// A JSON object of any keys and values, none of its keys twice.
pub fn wild() -> impl Strategy<Value = String> {
    let fields = vec((0..KEYS.len(), wild_value()), 0..6);
    fields.prop_map(|mut fields| {
        fields.sort_by_key(|(key, _)| *key);
        fields.dedup_by_key(|(key, _)| *key);
        object(&fields)
    })
}

fn object(fields: &[(usize, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(key, value)| format!("\"{}\": {value}", KEYS[*key])).collect();
    format!("{{{}}}", fields.join(", "))
}

/// Any text: an object, one with a key twice, one that is cut or has a byte changed, or no JSON at all.
pub fn text() -> impl Strategy<Value = String> {
    let changed = (wild(), any::<Index>(), any::<char>()).prop_map(|(text, at, by)| {
        let mut characters: Vec<char> = text.chars().collect();
        let at = at.index(characters.len());
        characters[at] = by;
        characters.into_iter().collect()
    });
    prop_oneof![
        4 => valid().prop_map(|policy| policy.to_string()),
        4 => wild(),
        1 => vec((0..KEYS.len(), wild_value()), 0..8).prop_map(|fields| object(&fields)),
        1 => (wild(), any::<Index>()).prop_map(|(text, at)| text[..at.index(text.len())].to_owned()),
        1 => changed,
        1 => any::<String>(),
        1 => (1_usize..40).prop_map(|depth| format!("{{\"ramp\": {}{}}}", "[".repeat(depth), "]".repeat(depth))),
        1 => (65_500_usize..65_600).prop_map(|length| format!("{{\"{}\": 1}}", "k".repeat(length))),
    ]
}
