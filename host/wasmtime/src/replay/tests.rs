//! Runs of small scenarios through the real component.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::{Answer, Replay, ReplayError, Report, Scenario};
use crate::store::Store;
use crate::testing::{Asked, Watched};

const FIRST: &str =
    r#"{"scenario": "s", "policy": {"consecutive_failures": 1, "failure_rate": null, "jitter_percent": 0}}"#;

fn scenario(steps: &[&str]) -> Scenario {
    Scenario::parse([&[FIRST], steps].concat().join("\n").as_bytes()).unwrap()
}

fn run(steps: &[&str]) -> Report {
    Replay::in_memory().run(&scenario(steps)).unwrap()
}

fn failures(steps: &[&str]) -> Vec<String> {
    run(steps).failures.iter().map(ToString::to_string).collect()
}

const TRIP: [&str; 2] = [
    r#"{"at": 0, "do": "acquire", "expect": "proceed"}"#,
    r#"{"at": 0, "do": "report", "outcome": "failure", "expect": "applied", "state": "open"}"#,
];

fn tripped<'a>(steps: &[&'a str]) -> Vec<&'a str> {
    [&TRIP, steps].concat()
}

#[test]
fn what_holds_holds() {
    let steps = tripped(&[
        r#"{"at": 4999, "by": "Q", "do": "acquire", "expect": {"defer_ms": 1}}"#,
        r#"{"at": 5000, "by": "P", "do": "acquire", "times": 3, "expect": {"probe": 1, "defer": [2, 3], "proceed": 0}}"#,
        r#"{"at": 5000, "do": "inspect", "expect": {"state": "half-open", "leases": 1, "override": "none", "level": [0, 1]}}"#,
        r#"{"at": 5001, "by": "P", "do": "renew", "expect": "applied"}"#,
        r#"{"at": 5002, "do": "restart", "state": "half-open"}"#,
        r#"{"at": 5003, "by": "P", "do": "report", "outcome": "success", "expect": "applied", "state": "closed"}"#,
        r#"{"at": 5004, "by": "P", "do": "report", "outcome": "success", "expect": "stale"}"#,
    ]);
    let report = run(&steps);
    assert!(report.holds(), "{:?}", report.failures);
    assert_eq!(report.steps, 9);
}

#[test]
fn what_does_not_hold_is_told_with_its_line() {
    let steps = tripped(&[
        r#"{"at": 1, "do": "acquire", "expect": "probe"}"#,
        r#"{"at": 1, "do": "acquire", "times": 2, "expect": {"defer_ms": [1, 9]}}"#,
        r#"{"at": 1, "do": "acquire", "times": 2, "expect": {"probe": [1, 2]}}"#,
        r#"{"at": 1, "do": "report", "outcome": "success", "expect": "applied"}"#,
        r#"{"at": 1, "do": "inspect", "expect": {"state": "closed", "probe_due": true, "level": 7, "override": "forced-open"}}"#,
        r#"{"at": 1, "do": "reset", "expect": "error", "state": "open"}"#,
        r#"{"at": 1, "do": "restart", "expect": "error"}"#,
    ]);
    assert_eq!(
        failures(&steps),
        [
            "line 4: wanted probe, got defer for 4999 ms; open",
            "line 5: wanted defer for [1, 9] ms, got defer for 4999 ms; open (call 1 of 2)",
            "line 6: wanted probe [1, 2], got proceed 0, probe 0, defer 2",
            "line 7: wanted applied, got stale, old-epoch; open",
            "line 8: wanted state closed, got state open",
            "line 8: wanted probe_due true, got probe_due false",
            "line 8: wanted level 7, got level 0",
            "line 8: wanted override forced-open, got override none",
            "line 9: wanted error, got ok; closed",
            "line 9: wanted state open, got state closed",
            "line 10: wanted error, got ok",
        ]
    );
}

#[test]
fn a_permit_that_nobody_got_is_a_failed_expectation() {
    let steps = [
        r#"{"at": 0, "do": "report", "outcome": "success"}"#,
        r#"{"at": 0, "do": "acquire", "as": "first"}"#,
        r#"{"at": 0, "do": "report", "permit": "first", "outcome": "success", "expect": "applied"}"#,
        r#"{"at": 0, "do": "renew", "dependency": "other", "permit": "first", "expect": "stale"}"#,
    ];
    assert_eq!(
        failures(&steps),
        [
            "line 2: wanted an answer, got no permit \"A\" for \"payments\": no acquire has got one",
            "line 5: wanted stale, got no permit \"first\" for \"other\": no acquire has got one",
        ]
    );
}

#[test]
fn a_deferred_acquire_keeps_the_permit_that_was_there() {
    let steps = tripped(&[
        r#"{"at": 5000, "by": "P", "do": "acquire", "times": 2, "expect": {"probe": 1, "defer": 1}}"#,
        r#"{"at": 5000, "by": "P", "do": "release", "expect": "applied"}"#,
    ]);
    assert_eq!(failures(&steps), [""; 0]);
}

#[test]
fn a_refused_call_fails_unless_an_error_was_expected() {
    let steps = [
        r#"{"at": 0, "do": "acquire", "dependency": "", "expect": "error"}"#,
        r#"{"at": 0, "do": "inspect", "dependency": "", "expect": "error"}"#,
        r#"{"at": 0, "do": "configure", "policy": {"open_ms": -1}, "expect": "error"}"#,
        r#"{"at": 0, "do": "configure", "policy": {"probes": 0.5}, "expect": "error"}"#,
        r#"{"at": 0, "do": "configure", "policy": {"open_max_ms": 1e30}, "expect": "error"}"#,
        r#"{"at": 0, "do": "configure", "policy": {"open_ms": 0}}"#,
        r#"{"at": 0, "do": "acquire", "dependency": ""}"#,
        r#"{"at": 0, "do": "acquire", "expect": "error"}"#,
    ];
    let failures = run(&steps).failures;
    assert_eq!(failures.iter().map(|failure| failure.line).collect::<Vec<_>>(), [7, 8, 9]);
    assert!(failures[0].got.starts_with("error: the policy is invalid: open"), "{failures:?}");
}

#[test]
fn the_component_judges_the_policy_of_the_first_line() {
    let text = r#"{"scenario": "s", "policy": {"open_ms": 0, "probes": 101}}"#;
    match Replay::in_memory().run(&Scenario::parse(text.as_bytes()).unwrap()) {
        Err(ReplayError::Malformed { line: 1, why }) => {
            assert!(why.contains("open") && why.contains("probes"), "{why}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_policy_of_the_first_line_holds_for_every_dependency_and_after_forgetting() {
    let steps = [
        r#"{"at": 0, "do": "acquire", "dependency": "other"}"#,
        r#"{"at": 0, "do": "report", "dependency": "other", "outcome": "failure", "state": "open"}"#,
        r#"{"at": 0, "do": "forget"}"#,
        r#"{"at": 0, "do": "acquire"}"#,
        r#"{"at": 0, "do": "report", "outcome": "failure", "state": "open"}"#,
    ];
    assert_eq!(failures(&steps), [""; 0]);
}

#[test]
fn nothing_stays_in_the_store_also_when_a_run_is_broken_off() {
    let names: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let noted = names.clone();
    let store = Arc::new(Watched::that(move |asked| {
        if let Asked::Commit(writes) = asked {
            noted.lock().unwrap().extend(writes.iter().map(|write| write.key.namespace.to_owned()));
        }
        Ok(())
    }));
    let stop = Arc::new(AtomicBool::new(false));
    let replay = Replay::on(Arc::clone(&store) as Arc<dyn Store>).stop_when(Arc::clone(&stop));
    assert!(replay.run(&scenario(&TRIP)).unwrap().holds());
    // By the report, something is written.
    let at_the_report = |answer: &Answer<'_>| answer.step == "report";
    let broken_off =
        replay.run_showing(&scenario(&TRIP), |answer| stop.store(at_the_report(answer), Ordering::Relaxed));
    assert!(matches!(broken_off, Err(ReplayError::Stopped)), "{broken_off:?}");
    let panicking = std::panic::AssertUnwindSafe(|| {
        let replay = Replay::on(Arc::clone(&store) as Arc<dyn Store>);
        let _ = replay.run_showing(&scenario(&TRIP), |answer| assert!(!at_the_report(answer), "on purpose"));
    });
    std::panic::catch_unwind(panicking).unwrap_err();
    let names = names.lock().unwrap();
    assert_eq!(names.len(), 3, "each run has a namespace of its own");
    assert!(names.iter().all(|name| store.list(name).unwrap().is_empty()));
}

#[test]
fn a_policy_that_is_refused_is_named_as_in_the_file() {
    let steps = [r#"{"at": 0, "do": "configure", "policy": {"open_ms": 0, "lease_ms": 9, "probe_max_ms": 8}}"#];
    let failures = failures(&steps);
    assert!(failures[0].contains("open_ms: must be a whole number"), "{failures:?}");
    assert!(failures[0].contains("probe_max_ms: must be at least lease_ms"), "{failures:?}");
}

#[test]
fn answers_are_shown_one_by_one() {
    let mut shown = Vec::new();
    let steps = scenario(&[r#"{"at": 7, "by": "B", "do": "acquire", "times": 2}"#, r#"{"at": 7, "do": "inspect"}"#]);
    Replay::in_memory().run_showing(&steps, |answer| shown.push(answer.to_string())).unwrap();
    assert_eq!(shown.len(), 3);
    assert!(shown[0].starts_with("line 2: at 7: acquire payments by B: proceed; epoch "), "{shown:?}");
    assert!(shown[2].contains("inspect payments by A: state closed, override none"), "{shown:?}");
}
