//! The component is the core: whatever is asked, in whatever order, the core run natively and the component run by the
//! library give the same answers, errors, transitions and records, byte for byte.

pub mod asked;
mod contract;
pub mod native;
mod through_host;

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

use asked::{Asked, Deed};
use native::Native;
use through_host::ThroughHost;

pub fn config(cases: u32) -> ProptestConfig {
    // A failing case is printed; it is not written into the source tree.
    ProptestConfig { failure_persistence: Some(Box::new(FileFailurePersistence::Off)), ..ProptestConfig::with_cases(cases) }
}

/// Does one deed after the other on both sides, and compares after each.
fn agree(default: &halfopen::Policy, seed: u64, deeds: &[Deed]) -> Result<(), TestCaseError> {
    let (mut native, component) = match (Native::new(default, seed), ThroughHost::open(default, seed)) {
        (Ok(native), Ok(component)) => (native, component),
        (ours, theirs) => {
            prop_assert_eq!(ours.err(), theirs.err(), "what is wrong with the default policy");
            return Ok(());
        }
    };
    let mut permits = Vec::new();
    for (at, deed) in deeds.iter().enumerate() {
        match &deed.asked {
            Asked::Clock(now) => {
                native.now = *now;
                component.set_clock(*now);
                continue;
            }
            Asked::Damage(bytes) => {
                native.damage(&deed.dependency, bytes);
                component.damage(&deed.dependency, bytes);
                continue;
            }
            _ => {}
        }
        let ours = native.ask(deed, &permits);
        let theirs = component.ask(deed, &permits);
        prop_assert_eq!(&ours, &theirs, "the answers to step {}: {:?}", at, deed);
        permits.extend(ours.ok().and_then(|answer| answer.permit()));
        let (ours, theirs) = (native.record(&deed.dependency), component.record(&deed.dependency));
        prop_assert_eq!(ours, theirs, "the records after step {}: {:?}", at, deed);
        let (ours, theirs) = (native.history(&deed.dependency), component.history(&deed.dependency));
        prop_assert_eq!(ours, theirs, "the histories after step {}: {:?}", at, deed);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(300))]

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
fn the_librarys_default_policy_is_the_one_built_into_the_component() {
    let built_in = contract::policy(&halfopen_guest::policy::BUILT_IN);
    assert_eq!(halfopen::Policy::default(), built_in);
    let host = halfopen::Host::open("memory").unwrap();
    assert_eq!(host.breaker("a").policy().unwrap().policy, built_in);
}
