//! The component as an engine: an evaluation depends on its input alone.

use std::sync::Arc;

use halfopen_component::{Component, ComponentEngine, ComponentEngineError, Limits};
use halfopen_contract::BreakerError;
use halfopen_contract::documents::{Policy, Transition};
use halfopen_contract::engine::{Answer, Engine, Evaluation, Input, Operation, Request};
use halfopen_contract::entropy::Entropy;
use halfopen_contract::store::Snapshot;
use halfopen_contract::types::{Decision, Mode, Operator, Outcome, Permit, Report};

fn engine(default_policy: &Policy) -> Result<ComponentEngine, ComponentEngineError> {
    ComponentEngine::new(&Component::embedded(), Limits::default(), default_policy)
}

fn evaluate(
    engine: &ComponentEngine,
    dependency: &str,
    operation: Operation,
    snapshot: &Snapshot,
) -> Result<Evaluation, BreakerError> {
    let request = Request { dependency: dependency.into(), operation };
    let entropy = Arc::new(Entropy::new(Some(1)));
    engine.evaluate(&Input { request: &request, snapshot, now: 42, entropy: &entropy })
}

fn force() -> Operation {
    Operation::Force { mode: Mode::Open, lasting: None, operator: Operator::new("ann", "maintenance") }
}

#[test]
fn the_default_policy_is_shown_with_all_its_keys() {
    let engine = engine(&Policy::new().open_ms(1_000)).unwrap();
    let policy: Policy = engine.default_policy().parse().unwrap();
    assert_eq!(policy.get("open_ms").and_then(|value| value.as_u64()), Some(1_000));
    assert_eq!(policy.get("lease_ms").and_then(|value| value.as_u64()), Some(5_000));
}

#[test]
fn an_invalid_default_policy_is_refused_with_all_its_faults() {
    let policy = Policy::new().open_ms(0).failure_rate(101, 0).window_ms(15);
    let Err(ComponentEngineError::InvalidPolicy(faults)) = engine(&policy) else { panic!("it was accepted") };
    let fields: Vec<&str> = faults.iter().map(|fault| fault.field.as_str()).collect();
    for field in ["open_ms", "failure_rate.percent", "failure_rate.minimum_calls", "window.ms"] {
        assert!(fields.contains(&field), "{field} is missing in {fields:?}");
    }
}

#[test]
fn an_acquire_on_a_missing_record_proceeds_and_writes_nothing() {
    let engine = engine(&Policy::new()).unwrap();
    let acquire = Operation::Acquire { caller: "A".into() };
    let evaluation = evaluate(&engine, "payments", acquire, &Snapshot::default()).unwrap();
    assert!(matches!(evaluation, Evaluation { answer: Answer::Decision(Decision::Proceed(_)), write: None }));
}

#[test]
fn a_report_that_counts_is_one_commit() {
    let engine = engine(&Policy::new()).unwrap();
    let report = Report::new(Outcome::Failure).caller("A").cause("connection refused");
    let report = Operation::Report { permit: Permit { epoch: 0, lease: None }, report };
    let evaluation = evaluate(&engine, "payments", report, &Snapshot::default()).unwrap();
    let write = evaluation.write.unwrap();
    assert_eq!((write.commits, write.data.is_some(), write.transitions.len()), (1, true, 0));
}

#[test]
fn the_time_and_the_randomness_are_those_of_the_input() {
    let engine = engine(&Policy::new()).unwrap();
    // The input's time, whatever the store's clock showed.
    let snapshot = Snapshot { at: Some(7), ..Snapshot::default() };
    let one = evaluate(&engine, "payments", force(), &snapshot).unwrap();
    let transition: Transition = one.write.as_ref().unwrap().transitions[0].parse().unwrap();
    assert_eq!((transition.at, &*transition.by, &*transition.note), (42, "ann", "maintenance"));
    assert_eq!(evaluate(&engine, "payments", force(), &snapshot).unwrap(), one, "another evaluation is the same");
}

#[test]
fn bad_input_is_refused_and_the_engine_serves_on() {
    let engine = engine(&Policy::new()).unwrap();
    let error = evaluate(&engine, "a\nb", Operation::Inspect, &Snapshot::default()).unwrap_err();
    assert!(matches!(error, BreakerError::InvalidDependency { .. }), "{error:?}");
    let damaged = Snapshot { version: 3, data: Some(vec![0xff; 40]), at: None };
    let error = evaluate(&engine, "payments", Operation::Inspect, &damaged).unwrap_err();
    assert!(matches!(error, BreakerError::Store(_)), "{error:?}");
    assert!(evaluate(&engine, "payments", Operation::Inspect, &Snapshot::default()).is_ok());
}
