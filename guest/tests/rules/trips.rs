//! The boundaries at which a closed breaker trips, and the backoff level of a trip.

use halfopen_guest::contract::{Mode, Outcome, Report, State, Tally};
use halfopen_guest::policy::{FailureRate, Policy, Ramp, SlowCalls, WindowSpan};
use halfopen_guest::step::Request;

use crate::common::{EMPTY, NO_OPERATOR, QUICK, World, plain};

const OFF: Policy = Policy { consecutive_failures: 0, ..QUICK };

fn state_after(policy: Policy, tally: Tally) -> State {
    let mut world = World::with(policy);
    let permit = world.admitted().permit;
    world.receipt(Request::ReportTally { permit, tally }).state
}

#[test]
fn failures_in_a_row_trip_at_their_number() {
    let policy = Policy { consecutive_failures: 3, ..QUICK };
    assert_eq!(state_after(policy, Tally { failures: 2, ..EMPTY }), State::Closed);
    assert_eq!(state_after(policy, Tally { failures: 2, slow_failures: 1, ..EMPTY }), State::Open);
}

#[test]
fn a_success_ends_the_failures_in_a_row() {
    for took in [None, Some(50)] {
        let slow = SlowCalls { slower_than_ms: 50, percent: 100, minimum_calls: 1_000 };
        let mut world = World::with(Policy { consecutive_failures: 2, slow_calls: Some(slow), ..QUICK });
        let permit = world.admitted().permit;
        for outcome in [Outcome::Failure, Outcome::Success, Outcome::Failure] {
            world.receipt(Request::Report { permit, report: Report { took, ..plain(outcome) } });
        }
        let shown = world.inspect();
        assert_eq!((shown["state"].as_str(), shown["failures_in_row"].as_u64()), (Some("closed"), Some(1)));
    }
}

#[test]
fn a_rate_needs_its_calls_and_its_percentage() {
    let rate = Policy { failure_rate: Some(FailureRate { percent: 50, minimum_calls: 4 }), ..OFF };
    let slow = SlowCalls { slower_than_ms: 10, percent: 50, minimum_calls: 4 };
    let slow = Policy { slow_calls: Some(slow), ..OFF };
    for (bad, good, state) in [(3, 0, State::Closed), (1, 3, State::Closed), (2, 3, State::Closed), (2, 2, State::Open)]
    {
        assert_eq!(state_after(rate, Tally { failures: bad, successes: good, ..EMPTY }), state, "{bad} of {good}");
        let tally = Tally { slow_successes: bad, successes: good, ..EMPTY };
        assert_eq!(state_after(slow, tally.clone()), state, "{bad} slow of {good}");
        assert_eq!(state_after(OFF, tally), State::Closed, "slow calls are off");
    }
}

#[test]
fn a_call_window_counts_from_call_to_call() {
    let rate = Some(FailureRate { percent: 50, minimum_calls: 4 });
    let mut world = World::with(Policy { window: WindowSpan::Calls(4), failure_rate: rate, ..OFF });
    let permit = world.admitted().permit;
    let outcomes = [Outcome::Failure, Outcome::Success, Outcome::Success, Outcome::Success, Outcome::Failure];
    for outcome in outcomes {
        assert_eq!(world.report(permit, outcome).state, State::Closed, "the first failure leaves as the second comes");
    }
    assert_eq!(world.report(permit, Outcome::Failure).state, State::Open);
}

#[test]
fn a_call_is_slow_from_its_limit_on() {
    let slow = SlowCalls { slower_than_ms: 10, percent: 100, minimum_calls: 1 };
    for outcome in [Outcome::Success, Outcome::Failure] {
        for (took, expected) in [(None, 0), (Some(9), 0), (Some(10), 1)] {
            let mut world = World::with(Policy { consecutive_failures: 0, slow_calls: Some(slow), ..QUICK });
            let permit = world.admitted().permit;
            world.receipt(Request::Report { permit, report: Report { took, ..plain(outcome) } });
            let trip = world.transitions.last().map_or(0, |trip| trip["slow"].as_u64().expect("a number"));
            assert_eq!(trip, expected, "{outcome:?} in {took:?}");
        }
    }
}

#[test]
fn a_ramp_fails_at_the_rate_whatever_the_number_of_calls() {
    let ramp = Some(Ramp { over_ms: 10_000, from_percent: 100 });
    let rate = Some(FailureRate { percent: 50, minimum_calls: 1_000 });
    for (successes, failures, state) in [(2, 1, State::Closed), (1, 1, State::Open), (1, 0, State::Closed)] {
        let mut world = World::with(Policy { ramp, ..QUICK });
        world.trip();
        world.now = 5_000;
        let permit = world.probe().permit;
        world.report(permit, Outcome::Success);
        world.policy = Some(Policy { ramp, failure_rate: rate, ..OFF });
        let permit = world.admitted().permit;
        let tally = Tally { successes, failures, ..EMPTY };
        assert_eq!(world.receipt(Request::ReportTally { permit, tally }).state, state);
    }
}

#[test]
fn the_backoff_starts_afresh_after_a_stable_time() {
    for (closed_for, level) in [(0, 1), (59_999, 1), (60_000, 0)] {
        let mut world = World::with(QUICK);
        world.trip();
        world.now = 5_000;
        let permit = world.probe().permit;
        world.report(permit, Outcome::Success);
        world.now += closed_for;
        world.trip();
        assert_eq!(world.inspect()["level"], level, "{closed_for}");
    }
}

#[test]
fn a_breaker_goes_on_having_been_open() {
    let mut world = World::with(Policy { open_multiplier: 1.0, ..QUICK });
    for level in 0..4 {
        world.trip();
        assert_eq!(world.inspect()["level"], level);
        world.now += 5_000;
        let permit = world.probe().permit;
        world.report(permit, Outcome::Success);
    }
}

#[test]
fn a_reset_makes_it_never_have_been_open() {
    for forced in [false, true] {
        let mut world = World::with(QUICK);
        if forced {
            world.force(Mode::Open, None);
        } else {
            world.trip();
        }
        world.receipt(Request::Reset { operator: NO_OPERATOR });
        world.trip();
        assert_eq!(world.inspect()["level"], 0);
    }
}

#[test]
fn a_ramp_ends_at_its_very_millisecond() {
    let ramp = Some(Ramp { over_ms: 10_000, from_percent: 100 });
    for (after, state) in [(9_999, State::Open), (10_000, State::Closed)] {
        let mut world = World::with(Policy { ramp, ..QUICK });
        world.trip();
        world.now = 5_000;
        let permit = world.probe().permit;
        world.report(permit, Outcome::Success);
        world.policy = Some(Policy { ramp, ..OFF });
        world.now += after;
        let permit = world.admitted().permit;
        assert_eq!(world.report(permit, Outcome::Failure).state, state, "{after}");
    }
}
