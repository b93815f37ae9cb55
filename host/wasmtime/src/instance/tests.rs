use super::*;
use crate::component::Component;
use crate::engine::runtime;
use crate::op::Call;
use crate::wire::{Decision, FailureRate, Window};
use crate::{ManualClock, Outcome};

fn blueprint() -> Blueprint {
    Blueprint {
        runtime: runtime().unwrap(),
        pre: Component::embedded().ready().unwrap(),
        limits: Limits::default(),
        clock: Arc::new(ManualClock::new(1_000_000)),
        entropy: Arc::new(Entropy::new(Some(1))),
        default_policy: Policy::default(),
    }
}

fn instance(blueprint: &Blueprint) -> Instance {
    Instance::make(blueprint).unwrap_or_else(|_| panic!("no instance"))
}

fn op(call: Call) -> Op {
    Op { dependency: "payments".into(), call }
}

#[test]
fn the_default_policy_is_the_components_own() {
    assert_eq!(instance(&blueprint()).built_in_policy(), Policy::default());
}

#[test]
fn an_invalid_default_policy_is_refused_with_all_its_faults() {
    let default_policy = Policy {
        open_ms: 0,
        failure_rate: Some(FailureRate { percent: 101, minimum_calls: 0 }),
        window: Window::Ms(15),
        ..Policy::default()
    };
    let Err(MakeError::InvalidPolicy(faults)) = Instance::make(&Blueprint { default_policy, ..blueprint() }) else {
        panic!("an invalid policy was accepted");
    };
    let fields: Vec<&str> = faults.iter().map(|fault| fault.field.as_str()).collect();
    for field in ["open-ms", "failure-rate.percent", "failure-rate.minimum-calls", "window.ms"] {
        assert!(fields.contains(&field), "{field} is missing in {fields:?}");
    }
}

#[test]
fn a_call_on_a_missing_record_is_admitted_and_writes_nothing() {
    let call = Call::Acquire { caller: "A".into() };
    match instance(&blueprint()).run(&op(call), &Snapshot::default()) {
        Ran::Done(Answer::Decision(Decision::Proceed(_)), None) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_report_that_counts_is_one_commit() {
    let mut instance = instance(&blueprint());
    let Ran::Done(Answer::Decision(Decision::Proceed(admission)), None) =
        instance.run(&op(Call::Acquire { caller: "A".into() }), &Snapshot::default())
    else {
        panic!("not admitted")
    };
    let report = Call::Report { permit: admission.permit, outcome: Outcome::Failure, took: None };
    match instance.run(&op(report), &Snapshot::default()) {
        Ran::Done(Answer::Receipt(receipt), Some(change)) => {
            assert!(receipt.is_applied());
            assert_eq!(change.commits, 1);
            assert!(change.data.is_some_and(|data| data.len() <= 250));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn bad_input_is_refused_and_the_instance_lives_on() {
    let mut instance = instance(&blueprint());
    let bad = Op { dependency: "a\nb".into(), call: Call::Inspect };
    assert!(matches!(instance.run(&bad, &Snapshot::default()), Ran::Refused(wire::Error::InvalidDependency(_))));
    let damaged = Snapshot { version: 3, data: Some(vec![0xff; 40]), at: None };
    assert!(matches!(instance.run(&op(Call::Inspect), &damaged), Ran::Refused(_)));
    assert!(matches!(instance.run(&op(Call::Inspect), &Snapshot::default()), Ran::Done(..)));
}

#[test]
fn the_stores_clock_goes_before_the_hosts() {
    let mut instance = instance(&blueprint());
    let view = Snapshot { version: 0, data: None, at: Some(42) };
    let forced = op(Call::Force { mode: wire::Mode::Open, lasting: None, note: "".into() });
    match instance.run(&forced, &view) {
        Ran::Done(Answer::Receipt(receipt), Some(_)) => assert_eq!(receipt.transitions[0].at, 42),
        other => panic!("{other:?}"),
    }
}
