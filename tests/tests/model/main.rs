//! Model checking of the guest core itself: callers that come late, repeat themselves and crash, a clock that steps, a store
//! that they race for, and operators, in every order. Run with `-- --nocapture` it tells how many states it has seen.

mod broken;
#[allow(dead_code)]
#[path = "../../../host/rust/halfopen/src/local_admission/cached_decision.rs"]
mod cached_decision;
mod guest;
mod laws;
mod memory;
mod scenarios;
mod world;

use std::collections::BTreeSet;
use std::time::Instant;

use stateright::{Checker, HasDiscoveries, Model};

use crate::laws::{
    ACKNOWLEDGED, CHAIN, FORCED, FRESH, LAWS, LIVE_LEASES, NO_CALL, RECOVERY, RETRY_AFTER, STALE, TOKENS,
};
use crate::memory::Recall;
use crate::world::{Scenario, Store};

/// Explores a scenario to its bounds: every law holds in every state.
fn holds(scenario: Scenario) {
    let name = scenario.name;
    let begun = Instant::now();
    let checker = scenario.checker().threads(2).spawn_bfs().join();
    println!(
        "{name}: {} states, {} steps deep, {} steps tried in {:.1?}",
        checker.unique_state_count(),
        checker.max_depth(),
        checker.state_count(),
        begun.elapsed()
    );
    for (law, path) in checker.discoveries() {
        if LAWS.contains(&law) {
            let end = path.last_state().clone();
            panic!("{name}: not so: {law}\nbecause of: {:?}\nwhich leads to: {end:#?}", path.into_actions());
        }
    }
    checker.assert_properties();
}

/// Explores a scenario in which something is broken, until it shows.
fn is_caught(what: &str, scenario: Scenario, law: &'static str) {
    let checker = scenario.checker().finish_when(HasDiscoveries::AnyOf(BTreeSet::from([law]))).spawn_bfs().join();
    let Some(path) = checker.discovery(law) else { panic!("{what}: not caught") };
    println!("{what}: caught after {} states: not so: {law}", checker.unique_state_count());
    println!("    because of: {:?}", path.into_actions());
}

#[test]
fn the_laws_hold_with_one_probe_at_a_time() {
    holds(scenarios::one_probe());
}

#[test]
fn the_laws_hold_when_reports_come_twice() {
    holds(scenarios::reports_twice());
}

#[test]
fn the_laws_hold_when_the_dependency_asks_for_a_pause() {
    holds(scenarios::retry_after());
}

#[test]
fn the_laws_hold_when_a_record_is_removed() {
    holds(scenarios::removal());
}

#[test]
fn the_laws_hold_with_two_probes_that_reopen_when_lost() {
    holds(scenarios::two_probes());
}

#[test]
fn the_laws_hold_when_the_clock_steps() {
    holds(scenarios::clock_steps());
}

#[test]
fn the_laws_hold_when_operators_intervene() {
    holds(scenarios::operators());
}

#[test]
fn the_laws_hold_when_the_record_is_damaged() {
    holds(scenarios::damage());
}

#[test]
fn the_laws_hold_while_closed_calls_are_counted() {
    holds(scenarios::counting());
}

#[test]
fn the_laws_hold_for_cached_decisions() {
    holds(scenarios::memory());
}

#[test]
fn the_laws_hold_for_cached_decisions_when_the_clock_steps() {
    holds(scenarios::memory_and_clock());
}

#[test]
fn the_laws_hold_for_cached_decisions_and_operators() {
    holds(scenarios::memory_and_operators());
}

#[test]
fn a_cache_that_counts_from_the_arrival_is_caught() {
    let scenario = Scenario { recall: Recall::FromArrival, ..scenarios::memory() };
    is_caught("memory counts from the arrival", scenario, FRESH);
}

#[test]
fn a_cache_that_lasts_too_long_is_caught() {
    let scenario = Scenario { recall: Recall::TooLong, ..scenarios::memory() };
    is_caught("memory lasts too long", scenario, FRESH);
}

#[test]
fn a_cache_that_reads_the_wall_clock_alone_is_caught() {
    let scenario = Scenario { recall: Recall::WallClockOnly, ..scenarios::memory_and_clock() };
    is_caught("memory goes by the wall clock alone", scenario, FRESH);
}

#[test]
fn rules_without_the_token_check_are_caught() {
    let scenario = Scenario { core: broken::no_token_check, ..scenarios::one_probe() };
    is_caught("no token check", scenario, STALE);
}

#[test]
fn rules_that_count_late_results_are_caught() {
    let scenario = Scenario { core: broken::late_results_count, ..scenarios::one_probe() };
    is_caught("late results count", scenario, STALE);
}

#[test]
fn rules_whose_leases_never_expire_are_caught() {
    let scenario = Scenario { core: broken::leases_without_end, ..scenarios::one_probe() };
    is_caught("leases never expire", scenario, RECOVERY);
}

#[test]
fn rules_that_ignore_live_leases_are_caught() {
    let scenario = Scenario { core: broken::live_leases_ignored, ..scenarios::one_probe() };
    is_caught("live leases are ignored", scenario, LIVE_LEASES);
}

#[test]
fn rules_that_trust_the_clock_are_caught() {
    let scenario = Scenario { core: broken::clock_never_steps_back, ..scenarios::clock_steps() };
    is_caught("the clock is trusted", scenario, RECOVERY);
}

#[test]
fn rules_that_admit_deferred_callers_are_caught() {
    let scenario = Scenario { core: broken::deferred_callers_proceed, ..scenarios::one_probe() };
    is_caught("deferred callers proceed", scenario, NO_CALL);
}

#[test]
fn rules_that_keep_a_decision_after_a_lost_race_are_caught() {
    let scenario = Scenario { core: broken::old_decisions_stand, ..scenarios::one_probe() };
    is_caught("old decisions stand", scenario.clone(), CHAIN);
    is_caught("old decisions stand", scenario, TOKENS);
}

#[test]
fn a_store_without_compare_and_set_is_caught() {
    let scenario = Scenario { store: Store::LastWriteWins, ..scenarios::one_probe() };
    is_caught("no compare-and-set", scenario.clone(), TOKENS);
    is_caught("no compare-and-set", scenario, LIVE_LEASES);
    let scenario = Scenario { store: Store::LastWriteWins, ..scenarios::counting() };
    is_caught("no compare-and-set, while counting", scenario, ACKNOWLEDGED);
}

#[test]
fn a_store_that_answers_before_it_has_written_is_caught() {
    let scenario = Scenario { store: Store::AnswersEarly, ..scenarios::one_probe() };
    is_caught("answers before it has written", scenario, ACKNOWLEDGED);
}

#[test]
fn a_store_that_forgets_the_version_of_a_removal_is_caught() {
    let scenario = Scenario { store: Store::ForgetsVersions, ..scenarios::removal() };
    is_caught("versions begin anew", scenario, TOKENS);
}

#[test]
fn rules_that_drop_retry_after_are_caught() {
    let scenario = Scenario { core: broken::retry_after_dropped, ..scenarios::retry_after() };
    is_caught("retry-after is dropped", scenario, RETRY_AFTER);
}

#[test]
fn rules_whose_overrides_never_end_are_caught() {
    let scenario = Scenario { core: broken::overrides_without_end, ..scenarios::operators() };
    is_caught("overrides never end", scenario, FORCED);
}

#[test]
fn rules_that_remove_a_record_silently_are_caught() {
    let scenario = Scenario { core: broken::silent_removals, ..scenarios::removal() };
    is_caught("removals are silent", scenario, CHAIN);
}
