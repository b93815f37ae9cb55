//! What is noted of each change of state.

mod common;

use common::{QUICK, World};
use halfopen_guest::contract::{
    FailureRate, LostProbe, Maybe, Mode, Outcome, Policy, Ramp, SlowCalls, State, Tally, TransitionReason as Reason,
};
use halfopen_guest::step::Request;

fn reasons(world: &World) -> Vec<Reason> {
    world.transitions.iter().map(|transition| transition.reason.clone()).collect()
}

fn force(mode: Mode, lasting: Option<u64>) -> Request {
    Request::Force { mode, lasting, note: "".into() }
}

fn tripped_by(policy: Policy, tally: Tally) -> Vec<Reason> {
    let mut world = World::with(policy);
    let permit = world.admitted().permit;
    world.receipt(Request::ReportTally { permit, tally });
    reasons(&world)
}

#[test]
fn a_trip_names_the_rule_that_tripped() {
    let off = Policy { consecutive_failures: 0, ..QUICK };
    let rate = FailureRate { percent: 50, minimum_calls: 4 };
    let slow = SlowCalls { slower_than_ms: 10, percent: 50, minimum_calls: 4 };
    let half = Tally { successes: 2, failures: 2, ..Tally::NONE };
    assert_eq!(tripped_by(QUICK, Tally { failures: 1, ..Tally::NONE }), [Reason::ConsecutiveFailures]);
    assert_eq!(tripped_by(Policy { failure_rate: Maybe::Some(rate), ..off }, half), [Reason::FailureRate]);
    let slow_half = Tally { successes: 2, slow_successes: 2, ..Tally::NONE };
    assert_eq!(tripped_by(Policy { slow_calls: Maybe::Some(slow), ..off }, slow_half), [Reason::SlowCalls]);
    assert_eq!(tripped_by(off, half), []);
}

#[test]
fn a_probe_leaves_two_transitions_with_its_outcome() {
    let slow = SlowCalls { slower_than_ms: 10, percent: 50, minimum_calls: 4 };
    for (outcome, took, reason) in [
        (Outcome::Success, None, Reason::ProbeSucceeded),
        (Outcome::Success, Some(10), Reason::ProbeSlow),
        (Outcome::Failure, None, Reason::ProbeFailed),
        (Outcome::Timeout, None, Reason::ProbeTimedOut),
    ] {
        let mut world = World::with(Policy { slow_calls: Maybe::Some(slow), ..QUICK });
        world.trip();
        world.now = 5_000;
        let permit = world.probe().permit;
        let receipt = world.receipt(Request::Report { permit, outcome, took });
        assert_eq!(receipt.transitions.len(), 1);
        assert_eq!(reasons(&world), [Reason::ConsecutiveFailures, Reason::ProbeDue, reason]);
    }
}

#[test]
fn a_lost_probe_is_noted_once_in_the_same_epoch() {
    let mut world = World::with(Policy { probes: 2, ..QUICK });
    world.trip();
    world.now = 5_000;
    let epoch = world.probe().permit.epoch;
    world.probe();
    world.now = 9_000;
    world.probe();
    world.probe();
    let lost = &world.transitions[2..];
    assert_eq!(lost.len(), 2, "one for each lease");
    for transition in lost {
        assert_eq!((transition.from, transition.to), (State::HalfOpen, State::HalfOpen));
        assert_eq!((transition.epoch, &transition.reason, transition.at), (epoch, &Reason::ProbeLost, 9_000));
    }
}

#[test]
fn one_call_can_bring_about_several() {
    let mut world = World::with(Policy { lost_probe: LostProbe::Reopen, ..QUICK });
    world.trip();
    world.now = 5_000;
    world.probe();
    world.now = 8_000;
    world.deferred();
    assert_eq!(reasons(&world)[2..], [Reason::ProbeLost, Reason::ProbeLost]);
    assert_eq!(world.transitions[3].to, State::Open);

    let mut world = World::with(QUICK);
    world.receipt(force(Mode::Closed, Some(100)));
    world.now = 100;
    let receipt = world.receipt(force(Mode::Open, None));
    let of_receipt: Vec<_> = receipt.transitions.iter().map(|transition| transition.reason.clone()).collect();
    assert_eq!(of_receipt, [Reason::OverrideEnded, Reason::Forced]);
}

#[test]
fn a_failure_during_a_ramp() {
    let ramp = Ramp { over_ms: 10_000, from_percent: 100 };
    let mut world = World::with(Policy { consecutive_failures: 5, ramp: Maybe::Some(ramp), ..QUICK });
    world.receipt(force(Mode::Open, None));
    world.receipt(force(Mode::None, None));
    let permit = world.probe().permit;
    world.report(permit, Outcome::Success);
    let permit = world.admitted().permit;
    world.report(permit, Outcome::Failure);
    assert_eq!(reasons(&world).last(), Some(&Reason::RampFailure));
}

#[test]
fn transitions_are_chained_and_each_epoch_is_the_last_plus_one() {
    let mut world = World::with(QUICK);
    let mut last = (State::Closed, world.inspect().epoch);
    for round in 0..20 {
        world.now += 400_000;
        match round % 5 {
            0 => world.trip(),
            1 => drop(world.receipt(force(Mode::Open, Some(10)))),
            2 => drop(world.acquire()),
            3 => drop(world.receipt(force(Mode::Closed, Some(10)))),
            _ => drop(world.receipt(Request::Reset)),
        }
    }
    assert!(world.transitions.len() > 20);
    for transition in world.transitions.iter().filter(|transition| transition.reason != Reason::ProbeLost) {
        assert_eq!((transition.from, transition.epoch), (last.0, last.1 + 1), "{transition:?}");
        last = (transition.to, transition.epoch);
    }
}
