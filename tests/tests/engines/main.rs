//! The two engines are one: the same record, operation, instant and randomness into both gives the same answer or error, the
//! same bytes and the same transitions.

mod draw;
mod policies;
mod record_bytes;
mod world;

use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use halfopen_component::{Component, ComponentEngine, ComponentEngineError, Limits};
use halfopen_contract::BreakerError;
use halfopen_contract::documents::{Policy, Transition};
use halfopen_contract::engine::{Answer, Engine, Input, Request};
use halfopen_contract::entropy::Entropy;
use halfopen_contract::store::Snapshot;
use halfopen_contract::types::{Decision, PolicyFault};
use halfopen_native::NativeEngine;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{FileFailurePersistence, TestRunner};

use draw::Deed;
use world::World;

fn config(cases: u32) -> ProptestConfig {
    // A failing case is printed; it is not written into the source tree.
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::with_cases(cases)
    }
}

fn native(policy: &Policy) -> Result<NativeEngine, Vec<PolicyFault>> {
    NativeEngine::new(policy).map_err(|error| match error {
        BreakerError::InvalidPolicy(faults) => faults,
        other => panic!("{other}"),
    })
}

fn component(policy: &Policy) -> Result<ComponentEngine, Vec<PolicyFault>> {
    ComponentEngine::new(&Component::embedded(), Limits::default(), policy).map_err(|error| match error {
        ComponentEngineError::InvalidPolicy(faults) => faults,
        other => panic!("{other}"),
    })
}

fn policy(text: &str) -> Policy {
    text.parse().unwrap()
}

/// Does one step after the other on both engines, and compares after each.
fn agree(default: &Policy, seed: u64, trace: &[Deed]) -> Result<(), TestCaseError> {
    let (native, component) = (native(default).unwrap(), component(default).unwrap());
    let (mut ours, mut theirs) = (World::new(&native, seed), World::new(&component, seed));
    for (number, deed) in trace.iter().enumerate() {
        prop_assert_eq!(ours.run(deed), theirs.run(deed), "step {}: {:?}", number, deed);
    }
    Ok(())
}

#[test]
fn a_thousand_random_traces_have_equal_answers() {
    let mut runner = TestRunner::deterministic();
    let drawn = (policies::valid(), any::<u64>(), draw::trace(60));
    for _ in 0..1_000 {
        let (default, seed, trace) = drawn.new_tree(&mut runner).unwrap().current();
        if let Err(error) = agree(&policy(&default.to_string()), seed, &trace) {
            panic!("under {default}, seed {seed}: {error}\n{trace:#?}");
        }
    }
}

/// Both engines, with the built-in policy. Making an engine takes far longer than an operation.
static BOTH: LazyLock<(NativeEngine, ComponentEngine)> =
    LazyLock::new(|| (native(&Policy::new()).unwrap(), component(&Policy::new()).unwrap()));

proptest! {
    #![proptest_config(config(3_000))]

    #[test]
    fn the_same_input_gives_the_same_output(
        version in prop_oneof![0_u64..5, any::<u64>().prop_map(|version| version / 2)],
        data in record_bytes::any_bytes(),
        dependency in draw::dependency(),
        operation in draw::operation(),
        now in draw::instant(),
        seed in any::<u64>(),
    ) {
        let (native, component) = &*BOTH;
        let (request, snapshot) = (Request { dependency: dependency.into(), operation }, Snapshot { version, data, at: None });
        let evaluate = |engine: &dyn Engine| {
            let entropy = Arc::new(Entropy::new(Some(seed)));
            let evaluation = engine.evaluate(&Input { request: &request, snapshot: &snapshot, now, entropy: &entropy });
            // The next number shows how many were drawn.
            (evaluation, entropy.next())
        };
        prop_assert_eq!(evaluate(native), evaluate(component));
    }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn a_default_policy_has_the_same_faults_on_both(text in policies::wild()) {
        let policy = policy(&text);
        let (ours, theirs) = (native(&policy), component(&policy));
        match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours.default_policy(), theirs.default_policy()),
            (ours, theirs) => prop_assert_eq!(ours.err(), theirs.err()),
        }
    }
}

#[test]
fn the_engines_have_one_built_in_policy() {
    let (native, component) = &*BOTH;
    assert_eq!(native.default_policy(), component.default_policy());
}

#[test]
fn random_traces_reach_every_reason_verdict_and_error() {
    let mut runner = TestRunner::deterministic();
    let drawn = (policies::valid(), draw::trace(60));
    let (mut reasons, mut verdicts, mut deferrals, mut errors) =
        (HashSet::new(), HashSet::new(), HashSet::new(), HashSet::new());
    for _ in 0..1_500 {
        let (default, trace) = drawn.new_tree(&mut runner).unwrap().current();
        let engine = native(&policy(&default.to_string())).unwrap();
        let mut world = World::new(&engine, 1);
        for evaluation in trace.iter().filter_map(|deed| world.run(deed)) {
            let evaluation = match evaluation {
                Ok(evaluation) => evaluation,
                Err(error) => {
                    errors.insert(std::mem::discriminant(&error));
                    continue;
                }
            };
            match evaluation.answer {
                Answer::Receipt(receipt) => drop(verdicts.insert(format!("{:?}", receipt.verdict))),
                Answer::Decision(Decision::Defer(deferral)) => drop(deferrals.insert(deferral.reason)),
                _ => {}
            }
            let transitions = evaluation.write.into_iter().flat_map(|write| write.transitions);
            reasons.extend(transitions.map(|json| json.parse::<Transition>().unwrap().reason));
        }
    }
    assert_eq!(reasons.len(), 16, "{reasons:?}");
    assert_eq!(verdicts.len(), 7, "{verdicts:?}");
    assert_eq!(deferrals.len(), 4, "{deferrals:?}");
    assert_eq!(errors.len(), 3, "an invalid name, an invalid policy and a damaged record");
}
