//! Files that are not well-formed: the line, and what is wrong there.

use halfopen_replay::{Scenario, ScenarioError};

const FIRST: &str = r#"{"scenario": "s"}"#;

fn fault(text: &str) -> (usize, String) {
    match Scenario::parse(text.as_bytes()) {
        Err(ScenarioError::Malformed { line, why }) => (line, why),
        other => panic!("{text}: {other:?}"),
    }
}

/// The fault of a file with this one step.
fn fault_of(step: &str) -> String {
    let (line, why) = fault(&format!("{FIRST}\n{step}"));
    assert_eq!(line, 2, "{step}");
    why
}

fn is_read(step: &str) -> bool {
    Scenario::parse(format!("{FIRST}\n{step}").as_bytes()).is_ok()
}

/// A step with an expectation.
fn expecting(step: &str, expect: &str) -> String {
    let outcome = if step == "report" { r#""outcome": "success", "# } else { "" };
    format!(r#"{{"at": 0, "do": "{step}", {outcome}"expect": {expect}}}"#)
}

#[test]
fn a_file_needs_a_name_alone() {
    let scenario = Scenario::parse(format!("{FIRST}\n{}\n", r#"{"at": 0, "do": "acquire"}"#).as_bytes()).unwrap();
    assert_eq!((scenario.name(), scenario.steps()), ("s", 1));
}

#[test]
fn a_first_line_that_is_none_is_refused() {
    assert!(fault("").1.contains("empty"));
    assert!(fault("\n\n").1.contains("empty"));
    assert!(fault("{}").1.contains("lacks \"scenario\""));
    assert_eq!(fault("[]").1, "the first line must be an object, got an array");
    assert!(fault(r#"{"scenario": "s", "seeds": 1}"#).1.contains("no key \"seeds\"; did you mean \"seed\"?"));
    assert!(fault(r#"{"scenario": "s", "policy": null}"#).1.contains("must be an object"));
    assert!(fault(r#"{"scenario": "s", "seed": -1}"#).1.contains("negative"));
}

#[test]
fn a_fault_has_the_number_of_its_line() {
    assert_eq!(fault(&format!("{FIRST}\n{}", r#"{"at": 0, "do": "acq"#)).0, 2);
    assert_eq!(fault(&format!("{FIRST}\n\n{}", r#"{"at": 0, "do": "reset"}"#)).0, 2);
    assert_eq!(fault(&format!("{FIRST}\r\n{}\r\nx", r#"{"at": 0, "do": "reset"}"#)).0, 3);
}

#[test]
fn bytes_that_are_not_utf_8_have_a_line() {
    let bytes = [FIRST.as_bytes(), b"\n\xff"].concat();
    match Scenario::parse(&bytes) {
        Err(ScenarioError::Malformed { line: 2, why }) => assert!(why.contains("byte 19"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_cannot_be_read_is_no_scenario() {
    assert!(matches!(Scenario::read("no/such/file.jsonl"), Err(ScenarioError::Unreadable(_))));
}

#[test]
fn steps_that_are_none_are_refused() {
    for (step, why) in [
        (r#"{"do": "reset"}"#, "lacks \"at\""),
        (r#"{"at": -1, "do": "reset"}"#, "negative"),
        (r#"{"at": 1.5, "do": "reset"}"#, "whole"),
        (r#"{"at": 18446744073709551616, "do": "reset"}"#, "whole"),
        (r#"{"at": "1", "do": "reset"}"#, "string"),
        (r#"{"at": null, "do": "reset"}"#, "null"),
        (r#"{"at": 0}"#, "lacks \"do\""),
        (r#"{"at": 0, "do": "jump"}"#, "jump"),
        (r#"{"at": 0, "do": 1}"#, "\"do\" must be a string, got a number"),
        (r#"[0]"#, "a step must be an object, got an array"),
        (r#"{"at": 0, "do": "reset", "times": 2}"#, "a reset step has no key \"times\""),
        (r#"{"at": 0, "do": "inspect", "permit": "A"}"#, "an inspect step has no key \"permit\""),
        (r#"{"at": 0, "do": "acquire", "permit": "A"}"#, "an acquire step has no key \"permit\""),
        (r#"{"at": 0, "do": "acquire", "note": "n"}"#, "an acquire step has no key \"note\""),
        (r#"{"at": 0, "do": "renew", "outcome": "success"}"#, "a renew step has no key \"outcome\""),
        (r#"{"at": 0, "do": "release", "cause": "c"}"#, "a release step has no key \"cause\""),
        (r#"{"at": 0, "do": "acquire", "times": 0}"#, "\"times\" is 0; it must be 1 to 1,000,000"),
        (r#"{"at": 0, "do": "acquire", "times": 1000001}"#, "it must be 1 to 1,000,000"),
        (r#"{"at": 0, "do": "renew", "times": 18446744073709551615}"#, "it must be 1 to 1,000,000"),
        (r#"{"at": 0, "do": "acquire", "expct": "probe"}"#, "no key \"expct\"; did you mean \"expect\"?"),
        (r#"{"at": 0, "do": "report"}"#, "lacks \"outcome\""),
        (r#"{"at": 0, "do": "report", "outcome": "fine"}"#, "fine"),
        (r#"{"at": 0, "do": "report", "outcome": "failure", "retry_after": 5}"#, "did you mean \"retry_after_ms\"?"),
        (r#"{"at": 0, "do": "force"}"#, "lacks \"mode\""),
        (r#"{"at": 0, "do": "force", "mode": "ajar"}"#, "ajar"),
        (r#"{"at": 0, "do": "configure"}"#, "lacks \"policy\""),
        (r#"{"at": 0, "do": "configure", "policy": 5}"#, "\"policy\" must be an object, got a number"),
        (r#"{"at": 0, "do": "reset", "state": "shut"}"#, "shut"),
    ] {
        let got = fault_of(step);
        assert!(got.contains(why), "{step}: {got}");
    }
}

#[test]
fn lines_that_are_not_json_are_refused() {
    assert!(fault_of(r#"{"at": 5"#).contains("cut"));
    assert!(fault_of(r#"{"at" 5}"#).contains("not JSON at column 7"));
    assert!(fault_of(r#"{"at": 5} {"#).contains("not JSON"));
    assert!(fault_of(" \t\n{}").contains("empty line"));
}

#[test]
fn a_key_that_occurs_twice_is_refused() {
    for step in [
        r#"{"at": 0, "at": 1, "do": "reset"}"#,
        r#"{"at": 0, "do": "inspect", "expect": {"level": 1, "level": 1}}"#,
        r#"{"at": 0, "do": "configure", "policy": {"probes": 1, "probes": 1}}"#,
        r#"{"at": 0, "do": "configure", "policy": {"ramp": {"over_ms": 1, "over\u005fms": 1}}}"#,
    ] {
        assert!(fault_of(step).contains("occurs twice"), "{step}");
    }
}

#[test]
fn five_and_five_point_zero_are_one_number() {
    assert!(is_read(r#"{"at": 5.0, "do": "acquire", "times": 2.0, "expect": {"probe": 1.0}}"#));
}

#[test]
fn the_fields_of_every_step_are_read() {
    for step in [
        r#"{"at": 0, "do": "report", "by": "P", "permit": "Q", "outcome": "timeout", "took_ms": 1, "cause": "c", "retry_after_ms": 1, "times": 2, "expect": "stale", "state": "open"}"#,
        r#"{"at": 0, "do": "tally", "successes": 1, "slow_successes": 1, "failures": 1, "slow_failures": 1, "cause": "c", "retry_after_ms": 1, "permit": "P", "times": 2}"#,
        r#"{"at": 0, "do": "renew", "permit": "P", "times": 2, "expect": "applied"}"#,
        r#"{"at": 0, "do": "release", "permit": "P", "times": 2, "expect": "error"}"#,
        r#"{"at": 0, "do": "configure", "policy": null, "by": "op", "note": "n", "expect": "ok"}"#,
        r#"{"at": 0, "do": "force", "mode": "open", "lasting_ms": 1, "by": "op", "note": "n"}"#,
        r#"{"at": 0, "do": "reset", "by": "op", "note": "n", "expect": "error"}"#,
        r#"{"at": 0, "do": "forget", "by": "op", "note": "n", "dependency": "d"}"#,
        r#"{"at": 0, "do": "restart", "by": "op", "note": "n"}"#,
    ] {
        assert!(is_read(step), "{step}: {:?}", Scenario::parse(format!("{FIRST}\n{step}").as_bytes()));
    }
}

#[test]
fn expectations_of_acquire_are_checked() {
    for good in [r#""probe""#, r#""error""#, r#"{"defer_ms": 5}"#, r#"{"defer_ms": [1, 2]}"#, r#"{"defer": [0, 9]}"#] {
        assert!(is_read(&expecting("acquire", good)), "{good}");
    }
    for odd in [
        r#""applied""#,
        "5",
        "null",
        r#"{"defer_ms": "5"}"#,
        r#"{"defer_ms": [2, 1]}"#,
        r#"{"defer_ms": [1]}"#,
        r#"{"defer_ms": [1, 2, 3]}"#,
        r#"{"defer_ms": 1, "probe": 1}"#,
        r#"{"probe": -1}"#,
        r#"{"probes": 1}"#,
    ] {
        fault_of(&expecting("acquire", odd));
    }
}

#[test]
fn expectations_of_inspect_are_checked() {
    for good in [
        r#"{"state": "half-open", "override": "forced-open", "probe_due": false, "leases": [1, 2]}"#,
        r#"{"last_failure": null}"#,
        r#"{"last_failure": {"caller": "A"}}"#,
        r#""error""#,
        "{}",
    ] {
        assert!(is_read(&expecting("inspect", good)), "{good}");
    }
    for odd in [
        r#""ok""#,
        r#"{"epoch": 1}"#,
        r#"{"state": "ajar"}"#,
        r#"{"state": 1}"#,
        r#"{"override": "open"}"#,
        r#"{"probe_due": 1}"#,
        r#"{"level": "1"}"#,
        r#"{"level": 0.5}"#,
        r#"{"last_failure": "A"}"#,
        r#"{"last_failure": {"by": "A"}}"#,
        "[]",
    ] {
        fault_of(&expecting("inspect", odd));
    }
}

#[test]
fn expectations_of_reports_and_control_are_checked() {
    assert!(fault_of(&expecting("report", r#""ok""#)).contains("`ok` is none of applied, stale, error"));
    assert!(fault_of(&expecting("reset", r#""applied""#)).contains("`applied` is none of ok, error"));
}

#[test]
fn policies_are_left_to_the_rules() {
    for odd in ["-1", "1e30", "0.5", "99999999999999999999", "\"5s\"", "[]"] {
        assert!(is_read(&format!(r#"{{"at": 0, "do": "configure", "policy": {{"open_ms": {odd}}}}}"#)), "{odd}");
    }
    assert!(is_read(r#"{"at": 0, "do": "configure", "policy": {"open_msec": 1}}"#));
}
