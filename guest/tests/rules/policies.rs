//! Policies as JSON: the ranges, and all faults of a text at once.

use crate::common::policies::{LONGEST_MS, MOST, least, most};
use halfopen_guest::contract::PolicyFault;
use halfopen_guest::policy::{BUILT_IN, FailureRate, Policy, Ramp, WindowSpan};
use serde_json::{Value, json};

fn faults(text: &str) -> Vec<(String, String)> {
    match Policy::parse(text) {
        Ok(policy) => panic!("valid: {policy:?}"),
        Err(faults) => faults.into_iter().map(|PolicyFault { field, why }| (field, why)).collect(),
    }
}

fn fields(policy: Value) -> Vec<String> {
    faults(&policy.to_string()).into_iter().map(|(field, _)| field).collect()
}

fn why(policy: Value) -> String {
    let faults = faults(&policy.to_string());
    assert_eq!(faults.len(), 1, "one mistake is one fault: {faults:?}");
    faults.into_iter().map(|(field, why)| format!("{field}: {why}")).collect()
}

#[test]
fn the_ends_of_each_range_are_in_it() {
    for policy in [least(), most(), BUILT_IN, Policy { window: WindowSpan::Ms(86_400_000), ..BUILT_IN }] {
        assert!(policy.is_valid(), "{policy:?}");
        assert_eq!(Policy::parse(&policy.to_json()), Ok(policy));
    }
}

#[test]
fn one_more_or_less_is_out_of_each_range() {
    let numbers = [
        ("consecutive_failures", None, 1_000_001),
        ("open_ms", Some(0), LONGEST_MS + 1),
        ("open_max_ms", Some(0), LONGEST_MS + 1),
        ("jitter_percent", None, 101),
        ("stable_after_ms", None, LONGEST_MS + 1),
        ("lease_ms", Some(0), LONGEST_MS + 1),
        ("probe_max_ms", Some(0), LONGEST_MS + 1),
        ("probes", Some(0), 101),
        ("successes_to_close", Some(0), 1_000_001),
        ("fresh_ms", None, LONGEST_MS + 1),
        ("failure_rate.percent", Some(0), 101),
        ("failure_rate.minimum_calls", Some(0), 1_000_001),
        ("slow_calls.slower_than_ms", Some(0), LONGEST_MS + 1),
        ("slow_calls.percent", Some(0), 101),
        ("slow_calls.minimum_calls", Some(0), 1_000_001),
        ("ramp.over_ms", Some(0), LONGEST_MS + 1),
        ("ramp.from_percent", None, 101),
    ];
    let whole: Value = serde_json::from_str(&most().to_json()).expect("JSON");
    for (key, below, above) in numbers {
        let wrong = below.into_iter().chain([above, 1 << 32, u64::MAX]);
        for number in wrong.map(Value::from).chain([json!(1e30), json!(5000.0), json!(-1), json!("1"), json!(null)]) {
            let mut policy = whole.clone();
            match key.split_once('.') {
                Some((table, field)) => policy[table][field] = number.clone(),
                None => policy[key] = number.clone(),
            }
            assert_eq!(fields(policy), [key], "{key} = {number}");
        }
    }
    for window in [json!({"ms": 0}), json!({"ms": 5}), json!({"ms": 15}), json!({"ms": 86_400_010u64})] {
        assert_eq!(fields(json!({ "window": window })), ["window.ms"]);
    }
    for window in [json!({"calls": 0}), json!({"calls": 1_001}), json!({"calls": 1.0})] {
        assert_eq!(fields(json!({ "window": window })), ["window.calls"]);
    }
    for multiplier in [json!(0.999), json!(100.5), json!(0), json!(-2), json!("2"), json!(null), json!(1e300)] {
        assert_eq!(fields(json!({ "open_multiplier": multiplier })), ["open_multiplier"], "{multiplier}");
    }
}

#[test]
fn a_policy_out_of_range_is_not_valid() {
    let wrong = [
        Policy { consecutive_failures: MOST + 1, ..BUILT_IN },
        Policy { failure_rate: Some(FailureRate { percent: 0, minimum_calls: 1 }), ..BUILT_IN },
        Policy { window: WindowSpan::Ms(15), ..BUILT_IN },
        Policy { window: WindowSpan::Calls(0), ..BUILT_IN },
        Policy { open_multiplier: f64::NAN, ..BUILT_IN },
        Policy { open_multiplier: 0.5, ..BUILT_IN },
        Policy { open_ms: 2, open_max_ms: 1, ..BUILT_IN },
        Policy { lease_ms: 2, probe_max_ms: 1, ..BUILT_IN },
        Policy { ramp: Some(Ramp { over_ms: 0, from_percent: 0 }), ..BUILT_IN },
    ];
    for policy in wrong {
        assert!(!policy.is_valid(), "{policy:?}");
    }
}

#[test]
fn all_faults_are_named_at_once_in_the_order_of_the_contract() {
    let wrong = json!({
        "fresh_ms": -1,
        "consecutive_failures": true,
        "failure_rate": {"percent": 0},
        "slow_calls": [],
        "window": {"ms": 1, "calls": 1},
        "ramp": {"over_ms": 1, "from_percent": 0, "to_percent": 5},
        "lost_probe": "retry",
        "timeout": 5,
    });
    let expected = [
        "consecutive_failures",
        "failure_rate.percent",
        "failure_rate.minimum_calls",
        "slow_calls",
        "window",
        "window.ms",
        "lost_probe",
        "fresh_ms",
        "timeout",
        "ramp.to_percent",
    ];
    let mut found = fields(wrong);
    found.sort();
    let mut expected = expected.map(String::from).to_vec();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn a_fault_says_the_range_and_what_was_found() {
    for (policy, expected) in [
        (json!({"probes": 101}), "probes: must be a whole number from 1 to 100, not 101"),
        (json!({"open_ms": 5000.5}), "open_ms: must be a whole number from 1 to 2,592,000,000 (30 days), not 5000.5"),
        (json!({"probes": "many"}), "probes: must be a whole number from 1 to 100, not \"many\""),
        (json!({"probes": "a\n"}), "probes: must be a whole number from 1 to 100, not a long text"),
        (json!({"probes": null}), "probes: must be a whole number from 1 to 100, not null"),
        (json!({"probes": false}), "probes: must be a whole number from 1 to 100, not false"),
        (json!({"probes": []}), "probes: must be a whole number from 1 to 100, not a list"),
        (json!({"probes": {}}), "probes: must be a whole number from 1 to 100, not an object"),
        (json!({"open_multiplier": 101}), "open_multiplier: must be a number from 1 to 100, not 101"),
        (json!({"window": null}), "window: must be an object with either `ms` or `calls`, not null"),
        (json!({"window": {}}), "window: must be an object with either `ms` or `calls`, not without"),
        (
            json!({"window": {"ms": 10, "calls": 1}}),
            "window: must be an object with either `ms` or `calls`, not with both",
        ),
        (json!({"lost_probe": "retry"}), "lost_probe: must be \"reprobe\" or \"reopen\", not \"retry\""),
        (json!({"ramp": true}), "ramp: must be an object, or null to switch it off, not true"),
        (json!({"ramp": {"over_ms": 1}}), "ramp.from_percent: is missing; a table is given whole"),
    ] {
        assert_eq!(why(policy), expected);
    }
    let long = format!("{{\"probes\": {}}}", "9".repeat(41));
    assert_eq!(faults(&long)[0].1, "must be a whole number from 1 to 100, not a long number");
}

#[test]
fn a_fault_of_two_fields_shows_both_and_the_default() {
    let of = |policy| why(policy);
    assert_eq!(
        of(json!({"open_ms": 400_000})),
        "open_ms: is 400000, and must be at most `open_max_ms`, which is 300000 (the default)"
    );
    assert_eq!(
        of(json!({"open_max_ms": 4_999})),
        "open_max_ms: is 4999, and must be at least `open_ms`, which is 5000 (the default)"
    );
    assert_eq!(
        of(json!({"lease_ms": 2, "probe_max_ms": 1})),
        "lease_ms: is 2, and must be at most `probe_max_ms`, which is 1"
    );
    // Where one of them is out of its own range, that is the fault.
    assert_eq!(fields(json!({"open_ms": LONGEST_MS + 1, "open_max_ms": 5})), ["open_ms"]);
    assert_eq!(fields(json!({"open_ms": 5, "open_max_ms": 0})), ["open_max_ms"]);
}

#[test]
fn an_unknown_key_is_a_fault_with_its_nearest_neighbour() {
    for (policy, expected) in [
        (json!({"open-ms": 1}), "open-ms: is unknown; did you mean `open_ms`?"),
        (json!({"window_ms": 10}), "window_ms: is unknown"),
        (json!({"timeout": 10}), "timeout: is unknown"),
        (json!({"ramp.over_ms": 10}), "ramp.over_ms: is unknown"),
        (
            json!({"ramp": {"over_ms": 1, "from_percent": 1, "from_percents": 1}}),
            "ramp.from_percents: is unknown; did you mean `ramp.from_percent`?",
        ),
        (json!({"window": {"ms": 10, "milliseconds": 1}}), "window.milliseconds: is unknown"),
    ] {
        assert_eq!(why(policy), expected);
    }
    let long = json!({"k".repeat(1_000): 1});
    assert_eq!(fields(long)[0].len(), 128);
}

#[test]
fn a_key_given_twice_is_a_fault() {
    let twice = |text: &str| faults(text).into_iter().map(|(field, why)| format!("{field} {why}")).collect::<Vec<_>>();
    assert_eq!(twice(r#"{"probes": 1, "probes": 1}"#), ["probes is given twice"]);
    let nested = r#"{"window": {"calls": 1, "calls": 2}}"#;
    assert_eq!(twice(nested), ["window.calls is given twice"]);
}

#[test]
fn a_part_is_switched_off_by_null_or_off() {
    let on: Value = serde_json::from_str(&most().to_json()).expect("JSON");
    for off in [json!(null), json!("off")] {
        let mut policy = on.clone();
        for key in ["failure_rate", "slow_calls", "ramp"] {
            policy[key] = off.clone();
        }
        let policy = Policy::parse(&policy.to_string()).expect("a valid policy");
        assert_eq!((policy.failure_rate, policy.slow_calls, policy.ramp), (None, None, None));
    }
    assert_eq!(fields(json!({"ramp": "on"})), ["ramp"]);
}

#[test]
fn a_text_that_is_no_json_object_is_one_fault_with_its_place() {
    for (text, expected) in [
        ("", "is not JSON: value expected, at line 1, column 1"),
        ("[]", "must be a JSON object, not a list"),
        ("{\n  \"probes\" 1}", "is not JSON: colon expected, at line 2, column 12"),
        ("{} {}", "is not JSON: end of file expected, at line 1, column 4"),
    ] {
        assert_eq!(faults(text), [(String::new(), expected.to_owned())], "{text}");
    }
    let long = format!("{{{}}}", " ".repeat(65_535));
    assert_eq!(faults(&long), [(String::new(), "is longer than 65,536 bytes".to_owned())]);
    assert!(Policy::parse(&long[1..].replacen(' ', "{", 1)).is_ok(), "a text of 65,536 bytes is read");
    assert_eq!(faults(&"[".repeat(60_000)).len(), 1);
    assert_eq!(Policy::parse("\u{feff}{}"), Ok(BUILT_IN), "a byte order mark is skipped");
}

#[test]
fn a_policy_is_written_with_all_its_keys() {
    let expected = json!({
        "consecutive_failures": 5, "failure_rate": {"percent": 50, "minimum_calls": 20}, "slow_calls": null,
        "window": {"ms": 30_000}, "open_ms": 5_000, "open_multiplier": 2.0, "open_max_ms": 300_000,
        "jitter_percent": 20, "stable_after_ms": 60_000, "lease_ms": 5_000, "probe_max_ms": 60_000, "probes": 1,
        "successes_to_close": 1, "lost_probe": "reprobe", "ramp": null, "fresh_ms": 250,
    });
    assert_eq!(serde_json::from_str::<Value>(&BUILT_IN.to_json()).expect("JSON"), expected);
    assert_eq!(Policy::parse("{}"), Ok(BUILT_IN));
}
