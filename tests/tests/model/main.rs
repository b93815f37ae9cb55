//! Model checking of the guest core itself: callers that come late, repeat themselves and crash, a clock that steps, a store
//! that they race for, and operators, in every order.

mod broken;
mod guest;
mod laws;
mod scenarios;
mod world;

use std::time::Instant;

use stateright::{Checker, Model};
use world::Scenario;

fn holds(scenario: Scenario) {
    let name = scenario.name;
    let begun = Instant::now();
    let checker = scenario.checker().threads(2).timeout(std::time::Duration::from_secs(60)).spawn_bfs().join();
    println!(
        "{name}: {} states, {} of them different, {} steps deep, {:.1?}",
        checker.state_count(),
        checker.unique_state_count(),
        checker.max_depth(),
        begun.elapsed()
    );
    let failures = checker.discoveries().into_iter().filter(|(name, _)| laws::LAWS.contains(name));
    for (law, path) in failures {
        let end = path.last_state().clone();
        panic!("broken: {law}\nby: {:#?}\nleads to: {end:#?}", path.into_actions());
    }
    checker.assert_properties();
}

#[test]
fn one_probe() {
    holds(scenarios::one_probe());
}

#[test]
fn two_probes() {
    holds(scenarios::two_probes());
}

#[test]
fn clock_steps() {
    holds(scenarios::clock_steps());
}

#[test]
fn operators() {
    holds(scenarios::operators());
}

#[test]
fn counting() {
    holds(scenarios::counting());
}
