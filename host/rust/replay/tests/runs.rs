//! Runs of small scenarios on the native engine: answers, failures, and what stays in the store.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use halfopen_contract::store::{CommitOutcome, Cursor, Key, MemoryStore, Page, Snapshot, Store, StoreError, Write};
use halfopen_replay::{Replay, ReplayError, Scenario, ScenarioError, StepAnswer, Summary};

const FIRST: &str =
    r#"{"scenario": "s", "policy": {"consecutive_failures": 1, "failure_rate": null, "jitter_percent": 0}}"#;

fn scenario(steps: &[&str]) -> Scenario {
    Scenario::parse([&[FIRST], steps].concat().join("\n").as_bytes()).unwrap()
}

fn replay() -> Replay {
    Replay::host(|host| host.native())
}

fn run(steps: &[&str]) -> Summary {
    replay().run(&scenario(steps)).unwrap()
}

fn failures(steps: &[&str]) -> Vec<String> {
    run(steps).failures.iter().map(ToString::to_string).collect()
}

const TRIP: [&str; 2] = [
    r#"{"at": 0, "do": "acquire", "expect": "proceed"}"#,
    r#"{"at": 0, "do": "report", "outcome": "failure", "cause": "refused", "expect": "applied", "state": "open"}"#,
];

fn tripped<'a>(steps: &[&'a str]) -> Vec<&'a str> {
    [&TRIP, steps].concat()
}

#[test]
fn expectations_that_hold_are_no_failures() {
    let steps = tripped(&[
        r#"{"at": 4999, "by": "Q", "do": "acquire", "expect": {"defer_ms": 1}}"#,
        r#"{"at": 5000, "by": "P", "do": "acquire", "times": 3, "expect": {"probe": 1, "defer": [2, 3], "proceed": 0}}"#,
        r#"{"at": 5000, "do": "inspect", "expect": {"state": "half-open", "leases": 1, "override": "none", "level": [0, 1]}}"#,
        r#"{"at": 5000, "do": "inspect", "expect": {"last_failure": {"caller": "A", "cause": "refused"}}}"#,
        r#"{"at": 5001, "by": "P", "do": "renew", "expect": "applied"}"#,
        r#"{"at": 5002, "do": "restart", "state": "half-open"}"#,
        r#"{"at": 5003, "by": "P", "do": "report", "outcome": "success", "expect": "applied", "state": "closed"}"#,
        r#"{"at": 5004, "by": "P", "do": "report", "outcome": "success", "expect": "stale"}"#,
    ]);
    let summary = run(&steps);
    assert!(summary.holds(), "{:?}", summary.failures);
    assert_eq!(summary.steps, 10);
}

#[test]
fn an_expectation_that_fails_has_line_wanted_and_got() {
    let steps = tripped(&[
        r#"{"at": 1, "do": "acquire", "expect": "probe"}"#,
        r#"{"at": 1, "do": "acquire", "times": 2, "expect": {"defer_ms": [1, 9]}}"#,
        r#"{"at": 1, "do": "acquire", "times": 2, "expect": {"probe": [1, 2]}}"#,
        r#"{"at": 1, "do": "report", "outcome": "success", "expect": "applied"}"#,
        r#"{"at": 1, "do": "inspect", "expect": {"state": "closed", "probe_due": true, "level": 7, "override": "forced-open"}}"#,
        r#"{"at": 1, "do": "inspect", "expect": {"last_failure": null}}"#,
        r#"{"at": 1, "do": "inspect", "expect": {"last_failure": {"caller": "B"}}}"#,
        r#"{"at": 1, "do": "reset", "expect": "error", "state": "open"}"#,
        r#"{"at": 1, "do": "restart", "expect": "error"}"#,
        r#"{"at": 1, "do": "inspect", "expect": {"last_failure": {}}}"#,
    ]);
    assert_eq!(
        failures(&steps),
        [
            "line 4: wanted probe, got defer for 4999 ms; open",
            "line 5: wanted defer_ms [1, 9], got defer_ms 4999 (call 1 of 2)",
            "line 6: wanted probe [1, 2], got proceed 0, probe 0, defer 2",
            "line 7: wanted applied, got stale, old-epoch; open",
            "line 8: wanted state closed, got state open",
            "line 8: wanted probe_due true, got probe_due false",
            "line 8: wanted level 7, got level 0",
            "line 8: wanted override forced-open, got override none",
            r#"line 9: wanted last_failure null, got last_failure {"caller":"A","cause":"refused"}"#,
            r#"line 10: wanted last_failure {"caller":"B"}, got last_failure {"caller":"A","cause":"refused"}"#,
            "line 11: wanted error, got applied; closed",
            "line 11: wanted state open, got state closed",
            "line 12: wanted error, got ok",
            "line 13: wanted last_failure {}, got last_failure null",
        ]
    );
}

#[test]
fn a_permit_that_no_acquire_got_is_a_failure() {
    let steps = [
        r#"{"at": 0, "do": "report", "outcome": "success"}"#,
        r#"{"at": 0, "do": "acquire", "as": "first"}"#,
        r#"{"at": 0, "do": "report", "permit": "first", "outcome": "success", "expect": "applied"}"#,
        r#"{"at": 0, "do": "renew", "dependency": "other", "permit": "first", "expect": "stale"}"#,
    ];
    assert_eq!(
        failures(&steps),
        [
            "line 2: wanted ok, got no permit \"A\" for \"payments\": no acquire has got one",
            "line 5: wanted stale, got no permit \"first\" for \"other\": no acquire has got one",
        ]
    );
}

#[test]
fn a_deferred_acquire_keeps_the_earlier_permit() {
    let steps = tripped(&[
        r#"{"at": 5000, "by": "P", "do": "acquire", "times": 2, "expect": {"probe": 1, "defer": 1}}"#,
        r#"{"at": 5000, "by": "P", "do": "release", "expect": "applied"}"#,
    ]);
    assert_eq!(failures(&steps), [""; 0]);
}

#[test]
fn of_repeated_reports_the_last_is_judged() {
    let steps = tripped(&[
        r#"{"at": 5000, "by": "P", "do": "acquire", "expect": "probe"}"#,
        r#"{"at": 5000, "by": "P", "do": "report", "outcome": "success", "times": 2, "expect": "stale"}"#,
    ]);
    assert_eq!(failures(&steps), [""; 0]);
}

#[test]
fn a_refused_call_fails_unless_an_error_is_expected() {
    let steps = [
        r#"{"at": 0, "do": "acquire", "dependency": "", "expect": "error"}"#,
        r#"{"at": 0, "do": "inspect", "dependency": "", "expect": "error"}"#,
        r#"{"at": 0, "do": "configure", "policy": {"open_ms": -1}, "expect": "error"}"#,
        r#"{"at": 0, "do": "configure", "policy": {"probes": 0.5}, "expect": "error"}"#,
        r#"{"at": 0, "do": "configure", "policy": {"open_max_ms": 1e30}, "expect": "error"}"#,
        r#"{"at": 0, "do": "configure", "policy": {"open_msec": 5}, "expect": "error"}"#,
        r#"{"at": 0, "do": "configure", "policy": {"open_ms": 0}}"#,
        r#"{"at": 0, "do": "acquire", "dependency": ""}"#,
        r#"{"at": 0, "do": "acquire", "expect": "error"}"#,
    ];
    let failures = run(&steps).failures;
    assert_eq!(failures.iter().map(|failure| failure.line).collect::<Vec<_>>(), [8, 9, 10]);
    assert!(failures[0].got.starts_with("error: the policy is invalid: `open_ms`"), "{failures:?}");
}

#[test]
fn an_invalid_policy_in_the_first_line_is_malformed() {
    for policy in [r#"{"open_ms": 0, "probes": 101}"#, r#"{"open_msec": 1, "probes": 101}"#] {
        let text = format!(r#"{{"scenario": "s", "policy": {policy}}}"#);
        match replay().run(&Scenario::parse(text.as_bytes()).unwrap()) {
            Err(ReplayError::Scenario(ScenarioError::Malformed { line: 1, why })) => {
                assert!(why.contains("open_ms") && why.contains("probes"), "{why}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_first_policy_holds_for_every_dependency() {
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
fn answers_are_shown_one_by_one() {
    let mut shown = Vec::new();
    let steps = scenario(&[
        r#"{"at": 7, "by": "B", "do": "acquire", "times": 2}"#,
        r#"{"at": 7, "do": "inspect"}"#,
        r#"{"at": 8, "do": "reset"}"#,
        r#"{"at": 8, "by": "op", "do": "reset", "note": "why"}"#,
    ]);
    replay()
        .run_showing(&steps, |answer| {
            shown.push(answer.to_string());
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(shown.len(), 5);
    assert!(shown[0].starts_with("line 2: at 7: acquire payments by B: proceed; epoch "), "{shown:?}");
    assert!(shown[2].contains("inspect payments by A: state closed, override none"), "{shown:?}");
    assert_eq!(shown[3], "line 4: at 8: reset payments: applied; closed");
    assert_eq!(shown[4], "line 5: at 8: reset payments by op: applied; closed");
}

/// A store in memory that notes the namespaces which are written.
#[derive(Default)]
struct NotedStore {
    store: MemoryStore,
    namespaces: Mutex<BTreeSet<String>>,
}

impl Store for NotedStore {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        // A clock of its own, far from that of the file.
        Ok(Snapshot { at: Some(1_000_000), ..self.store.load(key)? })
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.namespaces.lock().unwrap().extend(writes.iter().map(|write| write.key.namespace.to_owned()));
        self.store.commit(writes)
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.store.list(namespace)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        self.store.history(key, limit)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.store.transitions(namespace, after, limit)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.store.remove_namespace(namespace)
    }
}

#[test]
fn a_run_leaves_nothing_in_the_store_however_it_ends() {
    let store = Arc::new(NotedStore::default());
    let noted = Arc::clone(&store);
    let replay = replay().open_store(move || Ok::<Arc<dyn Store>, StoreError>(noted.clone())).unwrap();
    assert!(replay.run(&scenario(&TRIP)).unwrap().holds());
    // By the report, the record is written.
    let is_report = |answer: &StepAnswer<'_>| answer.step == "report";
    let stopped = replay.run_showing(&scenario(&TRIP), |answer| match is_report(answer) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    });
    assert!(matches!(stopped, Err(ReplayError::Stopped)), "{stopped:?}");
    catch_unwind(AssertUnwindSafe(|| {
        let _ = replay.run_showing(&scenario(&TRIP), |answer| {
            assert!(!is_report(answer), "on purpose");
            ControlFlow::Continue(())
        });
    }))
    .unwrap_err();
    let names = store.namespaces.lock().unwrap();
    assert_eq!(names.len(), 3, "each run has a namespace of its own");
    assert!(names.iter().all(|name| store.list(name).unwrap().is_empty()));
}

#[test]
fn a_restart_opens_the_store_again() {
    let store = Arc::new(MemoryStore::new());
    let opened = Arc::new(Mutex::new(0));
    let count = Arc::clone(&opened);
    let open = move || {
        *count.lock().unwrap() += 1;
        Ok::<_, StoreError>(Arc::clone(&store) as Arc<dyn Store>)
    };
    let steps = tripped(&[r#"{"at": 1, "do": "restart", "state": "open"}"#]);
    assert!(replay().open_store(open).unwrap().run(&scenario(&steps)).unwrap().holds());
    assert_eq!(*opened.lock().unwrap(), 2);
}
