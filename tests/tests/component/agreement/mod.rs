//! The component is the core: whatever is asked, in whatever order, the core run natively and the component run by the
//! library give the same answers, errors, transitions and records, byte for byte.

pub mod asked;
mod contract;
pub mod native;
mod through_host;

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{FileFailurePersistence, TestRunner};

use asked::{Answered, Asked, Deed};
use native::Native;
use through_host::ThroughHost;

pub fn config(cases: u32) -> ProptestConfig {
    // A failing case is printed; it is not written into the source tree.
    ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..ProptestConfig::with_cases(cases)
    }
}

/// Does one deed after the other on both sides, and compares after each.
fn agree(default: &halfopen::Policy, seed: u64, deeds: &[Deed]) -> Result<(), TestCaseError> {
    let (mut native, mut component) = match (Native::new(default, seed), ThroughHost::open(default, seed)) {
        (Ok(native), Ok(component)) => (native, component),
        (ours, theirs) => {
            prop_assert_eq!(ours.err(), theirs.err(), "what is wrong with the default policy");
            return Ok(());
        }
    };
    for (at, deed) in deeds.iter().enumerate() {
        prop_assert_eq!(native.does(deed), component.does(deed), "the answers to step {}: {:?}", at, deed);
        let (ours, theirs) = (native.record(&deed.dependency), component.record(&deed.dependency));
        prop_assert_eq!(ours, theirs, "the records after step {}: {:?}", at, deed);
        let (ours, theirs) = (native.history(&deed.dependency), component.history(&deed.dependency));
        prop_assert_eq!(ours, theirs, "the histories after step {}: {:?}", at, deed);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn the_component_answers_and_records_what_the_core_does(
        default in asked::policy(),
        seed in any::<u64>(),
        deeds in asked::deeds(60),
    ) {
        agree(&default, seed, &deeds)?;
    }

    #[test]
    fn a_policy_is_refused_for_the_same_fields_in_the_component_as_in_the_core(policy in asked::wild_policy()) {
        let deed = Deed { dependency: "a".to_owned(), asked: Asked::Configure(policy) };
        agree(&halfopen::Policy::default(), 0, &[deed])?;
        agree(&policy, 0, &[])?;
    }
}

#[test]
fn what_is_drawn_at_random_leads_to_every_change_of_state_and_every_kind_of_answer() {
    let mut runner = TestRunner::deterministic();
    let drawn = (asked::policy(), asked::deeds(60));
    let (mut reasons, mut verdicts, mut deferrals, mut errors) =
        (HashSet::new(), HashSet::new(), HashSet::new(), HashSet::new());
    for _ in 0..1_500 {
        let (default, deeds) = drawn.new_tree(&mut runner).unwrap().current();
        let mut native = Native::new(&default, 1).unwrap();
        for deed in &deeds {
            match native.does(deed) {
                Some(Ok(Answered::Receipt(receipt))) => drop(verdicts.insert(format!("{:?}", receipt.verdict))),
                Some(Ok(Answered::Defer(deferral))) => drop(deferrals.insert(deferral.reason)),
                Some(Err(refused)) => drop(errors.insert(std::mem::discriminant(&refused))),
                _ => {}
            }
            reasons.extend(native.history(&deed.dependency).into_iter().map(|transition| transition.reason));
        }
    }
    assert_eq!(reasons.len(), 14, "{reasons:?}");
    assert_eq!(verdicts.len(), 7, "{verdicts:?}");
    assert_eq!(deferrals.len(), 4, "{deferrals:?}");
    assert_eq!(errors.len(), 4, "an invalid name, policy and argument, and a damaged record");
}

#[test]
fn the_librarys_default_policy_is_the_one_built_into_the_component() {
    let built_in = contract::policy(&halfopen_guest::policy::BUILT_IN);
    assert_eq!(halfopen::Policy::default(), built_in);
    let host = halfopen::Host::open("memory").unwrap();
    assert_eq!(host.breaker("a").policy().unwrap().policy, built_in);
}
