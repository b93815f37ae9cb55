use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;

fn policy(json: Value) -> Policy {
    json.to_string().parse().unwrap()
}

fn parsed(text: &str) -> Value {
    serde_json::to_value(parse(text).unwrap()).unwrap()
}

fn fault_of(text: &str) -> String {
    parse(text).unwrap_err()
}

fn changes(base: Value, words: &[&str]) -> anyhow::Result<Value> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    Ok(serde_json::to_value(changed(&policy(base), &words)?)?)
}

#[test]
fn toml_becomes_the_json_of_the_contract() {
    let text = "open_ms = 100\nlost_probe = \"reopen\"\nramp = \"off\"\nopen_multiplier = 1.5\n[window]\ncalls = 7\n";
    let wanted = json!({
        "open_ms": 100, "lost_probe": "reopen", "ramp": "off", "open_multiplier": 1.5, "window": { "calls": 7 },
    });
    assert_eq!(parsed(text), wanted);
    assert_eq!(parsed(&wanted.to_string()), wanted);
}

#[test]
fn a_duration_becomes_a_number_of_milliseconds() {
    let text =
        "open = \"15m\"\nopen_max = \"2h 30m\"\nwindow = \"30s\"\nslow_calls = { slower_than = \"2s\", percent = 5 }\n";
    let wanted = json!({
        "open_ms": 900_000, "open_max_ms": 9_000_000, "window": { "ms": 30_000 },
        "slow_calls": { "slower_than_ms": 2_000, "percent": 5 },
    });
    assert_eq!(parsed(text), wanted);
    assert_eq!(parsed(r#"{"open": "15m"}"#), json!({ "open_ms": 900_000 }));
}

#[test]
fn only_a_duration_in_a_key_without_unit_is_replaced() {
    for text in ["open_ms = \"15m\"", "lost_probe = \"reopen\"", "open = \"15\"", "open = \"1us\"", "probes = \"off\""]
    {
        let key = text.split(' ').next().unwrap();
        assert!(parsed(text)[key].is_string(), "{text}");
    }
}

#[test]
fn a_value_that_is_given_twice_is_named() {
    for (text, wanted) in [
        ("open_ms = 1\nopen_ms = 2", "line 2: not TOML: duplicate key"),
        ("open_ms = 1\nopen = \"2s\"", "`open` and `open_ms` set the same value; give one of them"),
    ] {
        assert_eq!(fault_of(text), wanted, "{text}");
    }
}

#[test]
fn a_syntax_error_has_its_line() {
    assert!(fault_of("open_ms = 1\nlease_ms = = 2\n").starts_with("line 2: not TOML: "));
    assert!(fault_of("{\"open_ms\": }").starts_with("not JSON: expected value at line 1 column "));
}

#[test]
fn a_number_out_of_range_stays_out_of_range() {
    for text in ["open_ms = -5", "open_ms = 2.5", "open_ms = 99999999999999999999", "open_ms = inf", "open_ms = nan"] {
        // The TOML reader may refuse the number itself.
        if let Ok(policy) = parse(text) {
            let value = policy.as_object()["open_ms"].clone();
            assert!(value.as_u64().is_none(), "{text}: {value}");
        }
    }
}

#[test]
fn an_assignment_changes_its_key_and_no_other() {
    let base = json!({ "open_ms": 1, "failure_rate": { "percent": 50, "minimum_calls": 20 }, "window": { "ms": 10 } });
    let words = [
        "open=10s",
        "failure_rate.percent=20",
        "window.calls=100",
        "ramp={ over_ms = 5, from_percent = 6 }",
        "lost_probe=reopen",
        "slow_calls=off",
    ];
    let wanted = json!({
        "open_ms": 10_000, "failure_rate": { "percent": 20, "minimum_calls": 20 }, "window": { "calls": 100 },
        "ramp": { "over_ms": 5, "from_percent": 6 }, "lost_probe": "reopen", "slow_calls": "off",
    });
    assert_eq!(changes(base, &words).unwrap(), wanted);
    assert_eq!(changes(json!({}), &["window=30s"]).unwrap(), json!({ "window": { "ms": 30_000 } }));
}

#[test]
fn an_assignment_sets_one_value() {
    for word in ["open_ms=5\nprobes=9", "open_ms=5 # soon", "window={ ms = 10,\n calls = 5 }"] {
        let error = changes(json!({}), &[word]).unwrap_err().to_string();
        assert!(error.contains("a value is a number, a word, a duration or a table"), "{word}: {error}");
    }
    assert!(changes(json!({}), &["open_ms"]).unwrap_err().to_string().contains("is not KEY=VALUE"));
}

#[test]
fn assignments_of_the_same_value_are_refused() {
    for words in [
        ["open_ms=1", "open_ms=2"],
        ["open_ms=1", "open_ms=1"],
        ["open_ms=1", "open=2s"],
        ["window=30s", "window.ms=20"],
        ["ramp.over_ms=5", "ramp=off"],
        ["failure_rate.percent=5", "failure_rate.percent=6"],
    ] {
        assert!(changes(json!({}), &words).is_err(), "{words:?}");
    }
    assert!(changes(json!({}), &["ramp.over_ms=5", "ramp.from_percent=6"]).is_ok());
}

#[test]
fn a_policy_written_as_toml_reads_the_same() {
    let json = json!({
        "open_ms": 100, "slow_calls": "off", "open_multiplier": 2.0, "lost_probe": "reprobe", "window": { "ms": 30 },
    });
    assert_eq!(parsed(&to_toml(&policy(json.clone()))), json);
    let keys: BTreeSet<String> = to_toml(&policy(json!({ "ramp": null }))).lines().map(str::to_owned).collect();
    assert_eq!(keys, BTreeSet::from(["ramp = \"off\"".to_owned()]));
}
