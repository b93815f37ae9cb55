//! The transitions of each change of state, and of each entry from a state to itself.

use crate::common::{EMPTY, NO_OPERATOR, QUICK, World, operator, plain};
use halfopen_guest::contract::{Mode, Operator, Outcome, Report, Tally};
use halfopen_guest::policy::{FailureRate, LostProbe, Policy, Ramp, SlowCalls};
use halfopen_guest::step::Request;
use serde_json::{Value, json};

const SLOW: SlowCalls = SlowCalls { slower_than_ms: 10, percent: 50, minimum_calls: 4 };

fn tripped_by(policy: Policy, tally: Tally) -> World {
    let mut world = World::with(policy);
    let permit = world.admitted().permit;
    world.receipt(Request::ReportTally { permit, tally });
    world
}

fn ann() -> Operator {
    operator("ann", "by\thand")
}

fn force(mode: Mode, lasting: Option<u64>, operator: Operator) -> Request {
    Request::Force { mode, lasting, operator }
}

fn last(world: &World) -> &Value {
    world.transitions.last().expect("a transition")
}

#[test]
fn a_trip_names_the_rule_that_tripped() {
    let off = Policy { consecutive_failures: 0, ..QUICK };
    let rate = FailureRate { percent: 50, minimum_calls: 4 };
    let half = Tally { successes: 2, failures: 2, ..EMPTY };
    assert_eq!(tripped_by(QUICK, Tally { failures: 1, ..EMPTY }).reasons(), ["consecutive-failures"]);
    assert_eq!(tripped_by(Policy { failure_rate: Some(rate), ..off }, half.clone()).reasons(), ["failure-rate"]);
    let slow_half = Tally { successes: 2, slow_successes: 2, ..EMPTY };
    assert_eq!(tripped_by(Policy { slow_calls: Some(SLOW), ..off }, slow_half).reasons(), ["slow-calls"]);
    assert_eq!(tripped_by(off, half).reasons(), [""; 0]);
}

#[test]
fn a_trip_shows_its_failure_and_the_counts_that_it_empties() {
    let policy = Policy { consecutive_failures: 2, slow_calls: Some(SLOW), ..QUICK };
    let tally =
        Tally { successes: 1, failures: 1, slow_failures: 1, caller: "A\n".into(), cause: "503".into(), ..EMPTY };
    let world = tripped_by(policy, tally);
    let expected = json!({
        "from": "closed", "to": "open", "at": 0, "epoch": 1, "reason": "consecutive-failures",
        "caller": "A ", "cause": "503", "calls": 3, "failures": 2, "slow": 1, "failures_in_row": 2,
    });
    assert_eq!(last(&world), &expected);
    assert_eq!(world.clone().inspect()["last_change"], expected);
}

#[test]
fn a_trip_without_a_failure_shows_the_last_one_of_its_epoch() {
    let slow = SlowCalls { slower_than_ms: 10, percent: 50, minimum_calls: 2 };
    let mut world = World::with(Policy { consecutive_failures: 0, slow_calls: Some(slow), ..QUICK });
    let permit = world.admitted().permit;
    let failure = Report { caller: "F".into(), cause: "503".into(), ..plain(Outcome::Failure) };
    world.receipt(Request::Report { permit, report: failure });
    let slow = Report { caller: "S".into(), took: Some(10), ..plain(Outcome::Success) };
    world.receipt(Request::Report { permit, report: slow.clone() });
    let trip = last(&world);
    assert_eq!((&trip["reason"], &trip["caller"], &trip["cause"]), (&"slow-calls".into(), &"F".into(), &"503".into()));

    world.force(Mode::Closed, None);
    world.force(Mode::None, None);
    let permit = world.admitted().permit;
    (0..2).for_each(|_| drop(world.receipt(Request::Report { permit, report: slow.clone() })));
    let trip = last(&world);
    assert_eq!(trip["reason"], "slow-calls");
    assert_eq!((trip.get("caller"), trip.get("cause")), (None, None), "that failure was before a change of state");
    assert_eq!(world.inspect()["last_failure"]["caller"], "F");
}

#[test]
fn a_probe_leaves_two_transitions_with_its_outcome() {
    for (outcome, took, reason, caller) in [
        (Outcome::Success, None, "probe-succeeded", None),
        (Outcome::Success, Some(10), "probe-slow", None),
        (Outcome::Failure, None, "probe-failed", Some("P")),
        (Outcome::Timeout, None, "probe-timed-out", Some("P")),
    ] {
        let mut world = World::with(Policy { slow_calls: Some(SLOW), ..QUICK });
        world.trip();
        world.now = 5_000;
        let permit = world.probe().permit;
        world.receipt(Request::Report { permit, report: Report { took, caller: "P".into(), ..plain(outcome) } });
        assert_eq!(world.reasons(), ["consecutive-failures", "probe-due", reason]);
        assert_eq!(last(&world).get("caller").and_then(Value::as_str), caller);
        assert_eq!(last(&world).get("calls"), None, "nothing was counted");
    }
}

#[test]
fn a_lost_probe_is_noted_once_in_the_same_epoch() {
    let mut world = World::with(Policy { probes: 2, ..QUICK });
    world.trip();
    world.now = 5_000;
    world.acquire_as("P");
    let epoch = world.inspect()["epoch"].clone();
    world.acquire_as("Q");
    world.now = 9_000;
    world.probe();
    world.probe();
    let lost = &world.transitions[2..];
    let of = |caller| {
        json!({"from": "half-open", "to": "half-open", "at": 9_000, "epoch": epoch, "reason": "probe-lost",
               "caller": caller})
    };
    assert_eq!(lost, [of("P"), of("Q")], "one for each lease");
    assert_eq!(world.inspect()["last_change"]["reason"], "probe-due", "it raises no epoch");
}

#[test]
fn a_lost_probe_may_reopen_one_level_up() {
    let mut world = World::with(Policy { lost_probe: LostProbe::Reopen, ..QUICK });
    world.trip();
    world.now = 5_000;
    world.acquire_as("P");
    world.now = 8_000;
    assert!(!world.inspect()["probe_due"].as_bool().expect("a flag"));
    assert_eq!(world.deferred().retry_after, 10_000);
    assert_eq!(world.reasons()[2..], ["probe-lost", "probe-lost"]);
    assert_eq!((&last(&world)["to"], &last(&world)["caller"]), (&json!("open"), &json!("P")));
    assert_eq!(world.inspect()["level"], 1);
}

#[test]
fn one_call_can_bring_about_several() {
    let mut world = World::with(QUICK);
    world.receipt(force(Mode::Closed, Some(100), ann()));
    world.now = 100;
    world.force(Mode::Open, None);
    assert_eq!(world.reasons(), ["forced", "override-ended", "forced"]);
    let ended = &world.transitions[1];
    assert_eq!((&ended["by"], &ended["note"]), (&json!("ann"), &json!("by hand")), "of the force that set it");
    assert_eq!(ended["epoch"], 2, "after closed it is a change of state");
}

#[test]
fn forcing_again_keeps_the_state_and_takes_the_new_end() {
    for (mode, state) in [(Mode::Open, "open"), (Mode::Closed, "closed")] {
        let mut world = World::with(QUICK);
        world.receipt(force(mode, Some(100), NO_OPERATOR));
        world.now = 50;
        world.receipt(force(mode, Some(200), ann()));
        let noted = json!({"from": state, "to": state, "at": 50, "epoch": 1, "reason": "forced", "by": "ann",
                           "note": "by hand"});
        assert_eq!(last(&world), &noted);
        let shown = world.inspect();
        assert_eq!(
            shown["override"],
            json!({"mode": state, "since": 50, "ends_in_ms": 200, "by": "ann",
                                             "note": "by hand"})
        );
        assert_eq!(shown["since"], 0);
        world.force(mode, None);
        assert_eq!(world.inspect()["override"]["ends_in_ms"], Value::Null);
    }
}

#[test]
fn an_override_taken_back_after_open_keeps_the_epoch() {
    let mut world = World::with(QUICK);
    world.force(Mode::Open, None);
    world.now = 50;
    world.receipt(force(Mode::None, None, ann()));
    let noted = json!({"from": "open", "to": "open", "at": 50, "epoch": 1, "reason": "override-removed", "by": "ann",
                       "note": "by hand"});
    assert_eq!(last(&world), &noted);
    assert_eq!(
        (&world.inspect()["probe_due"], &world.inspect()["last_change"]["reason"]),
        (&json!(true), &json!("forced"))
    );
    world.force(Mode::Closed, None);
    world.force(Mode::None, None);
    assert_eq!((&last(&world)["epoch"], &last(&world)["reason"]), (&json!(3), &json!("override-removed")));
}

#[test]
fn an_override_that_has_ended_is_noted_by_the_first_write() {
    let mut world = World::with(QUICK);
    world.receipt(force(Mode::Open, Some(100), ann()));
    let permit = halfopen_guest::contract::Permit { epoch: 1, lease: None };
    world.now = 100;
    world.inspect();
    world.report(permit, Outcome::Failure);
    world.force(Mode::None, None);
    let equal = Request::Configure { policy: Some(QUICK.to_json()), operator: NO_OPERATOR };
    world.receipt(equal);
    assert_eq!(world.reasons(), ["forced"], "a read, a stale report and an equal policy note nothing");
    world.now = 150;
    world.probe();
    assert_eq!(world.reasons(), ["forced", "override-ended", "probe-due"]);
    let ended = &world.transitions[1];
    assert_eq!((&ended["epoch"], &ended["at"], &ended["by"]), (&json!(1), &json!(150), &json!("ann")));
}

#[test]
fn a_policy_is_noted_also_while_forced_unless_it_is_equal() {
    let mut world = World::with(QUICK);
    world.force(Mode::Open, None);
    for probes in [2, 2, 3] {
        let policy = Some(Policy { probes, ..QUICK }.to_json());
        world.receipt(Request::Configure { policy, operator: ann() });
    }
    assert_eq!(world.reasons(), ["forced", "configured", "configured"]);
    let noted = json!({"from": "open", "to": "open", "at": 0, "epoch": 1, "reason": "configured", "by": "ann",
                       "note": "by hand"});
    assert_eq!(last(&world), &noted);
    world.receipt(Request::Configure { policy: None, operator: NO_OPERATOR });
    assert_eq!(world.reasons().len(), 4);
}

#[test]
fn a_record_that_is_forgotten_leaves_one_transition() {
    let mut world = World::with(QUICK);
    let forget = || Request::Forget { operator: ann() };
    world.receipt(forget());
    assert_eq!((world.commits, world.transitions.len()), (1, 0), "there was no record");
    world.trip();
    world.receipt(forget());
    let gone = json!({"from": "open", "to": "open", "at": 0, "epoch": 1001, "reason": "forgotten", "by": "ann",
                      "note": "by hand"});
    assert_eq!(last(&world), &gone);
    assert_eq!(world.inspect()["last_change"], Value::Null);
}

#[test]
fn a_reset_shows_the_operator_and_drops_the_last_failure() {
    let mut world = World::with(QUICK);
    world.trip();
    world.receipt(Request::Reset { operator: ann() });
    assert_eq!((&last(&world)["reason"], &last(&world)["by"]), (&json!("reset"), &json!("ann")));
    let shown = world.inspect();
    assert_eq!((&shown["last_failure"], &shown["level"]), (&Value::Null, &json!(0)));
    assert_eq!(shown["last_change"]["reason"], "reset");
}

#[test]
fn a_failure_during_a_ramp() {
    let ramp = Ramp { over_ms: 10_000, from_percent: 100 };
    let mut world = World::with(Policy { consecutive_failures: 5, ramp: Some(ramp), ..QUICK });
    world.force(Mode::Open, None);
    world.force(Mode::None, None);
    let permit = world.probe().permit;
    world.report(permit, Outcome::Success);
    let permit = world.admitted().permit;
    world.report(permit, Outcome::Failure);
    assert_eq!(world.reasons().last(), Some(&"ramp-failure"));
}

#[test]
fn transitions_are_chained_and_each_epoch_is_the_next() {
    let mut world = World::with(QUICK);
    let mut chained = (json!("closed"), 0);
    for round in 0..20 {
        world.now += 400_000;
        match round % 5 {
            0 => world.trip(),
            1 => drop(world.force(Mode::Open, Some(10))),
            2 => drop(world.acquire()),
            3 => drop(world.force(Mode::Closed, Some(10))),
            _ => drop(world.receipt(Request::Reset { operator: NO_OPERATOR })),
        }
    }
    assert!(world.transitions.len() > 20);
    for transition in &world.transitions {
        let epoch = transition["epoch"].as_u64().expect("an epoch");
        if epoch == chained.1 {
            assert_eq!((&transition["from"], &transition["to"]), (&chained.0, &chained.0), "{transition}");
        } else {
            assert_eq!((&transition["from"], epoch), (&chained.0, chained.1 + 1), "{transition}");
            chained = (transition["to"].clone(), epoch);
        }
    }
}
