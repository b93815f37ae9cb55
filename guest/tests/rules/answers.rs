//! The rest of an answer: how long a process may rely on it, when to come back, and the documents.

use crate::common::{QUICK, World, operator, plain};
use halfopen_guest::contract::{DeferReason, Mode, Outcome, Report};
use halfopen_guest::policy::{BUILT_IN, LostProbe, Policy, Ramp, SlowCalls};
use halfopen_guest::step::Request;
use serde_json::json;

#[test]
fn a_healthy_breaker_admits_without_writing() {
    let mut world = World::with(BUILT_IN);
    let admission = world.admitted();
    assert_eq!((admission.percent, admission.fresh_for, admission.slower_than), (100, 250, None));
    assert_eq!(world.commits, 0);
}

#[test]
fn an_admission_and_a_probe_say_which_calls_are_slow() {
    let slow = SlowCalls { slower_than_ms: 700, percent: 50, minimum_calls: 4 };
    let mut world = World::with(Policy { slow_calls: Some(slow), ..QUICK });
    assert_eq!(world.admitted().slower_than, Some(700));
    world.trip();
    world.now = 5_000;
    assert_eq!(world.probe().slower_than, Some(700));
}

#[test]
fn an_open_breaker_says_what_is_left_and_its_spread() {
    let mut world = World::with(Policy { jitter_percent: 20, ..QUICK });
    world.trip();
    world.now = 4_900;
    let deferral = world.deferred();
    assert_eq!(deferral.reason, DeferReason::Open);
    assert_eq!((deferral.retry_after, deferral.spread), (100, 20));
    assert_eq!(deferral.fresh_for, 100, "the answer holds until the window ends");
    assert_eq!(deferral.admission, None);
}

#[test]
fn a_caller_during_a_probe_is_deferred_to_the_end_of_its_lease() {
    let mut world = World::with(QUICK);
    world.trip();
    world.now = 5_000;
    let probe = world.probe();
    assert_eq!((probe.expires_in, probe.slower_than), (3_000, None));
    world.now = 5_400;
    let deferral = world.deferred();
    assert_eq!((deferral.reason, deferral.retry_after, deferral.fresh_for), (DeferReason::Probing, 2_600, 250));
}

#[test]
fn a_second_probe_is_let_through_while_none_is_lost() {
    for lost_probe in [LostProbe::Reprobe, LostProbe::Reopen] {
        let mut world = World::with(Policy { probes: 2, successes_to_close: 2, lost_probe, ..QUICK });
        world.trip();
        world.now = 5_000;
        let permit = world.probe().permit;
        assert_eq!(world.inspect()["probe_due"], true);
        world.probe();
        assert_eq!(world.inspect()["probe_due"], false);
        world.report(permit, Outcome::Success);
        assert_eq!(world.inspect()["successes"], 1);
    }
}

#[test]
fn the_shortest_lease_decides_when_to_come_back() {
    let mut world = World::with(Policy { probes: 2, ..QUICK });
    world.trip();
    world.now = 5_000;
    world.probe();
    world.now = 6_000;
    world.probe();
    world.now = 6_500;
    assert_eq!(world.deferred().retry_after, 1_500);
    world.now = 8_000;
    world.probe();
    assert_eq!(world.deferred().retry_after, 1_000);
}

#[test]
fn no_answer_outlives_an_override() {
    let mut world = World::with(QUICK);
    world.force(Mode::Open, Some(1_000));
    world.now = 900;
    let deferral = world.deferred();
    assert_eq!((deferral.reason, deferral.retry_after, deferral.fresh_for), (DeferReason::ForcedOpen, 100, 100));
    world.force(Mode::Closed, Some(1_000));
    world.now = 1_800;
    assert_eq!(world.admitted().fresh_for, 100);
    world.force(Mode::Open, None);
    let deferral = world.deferred();
    assert_eq!((deferral.retry_after, deferral.fresh_for), (5_000, 250));
}

#[test]
fn a_ramp_admits_a_growing_share() {
    let ramp = Ramp { over_ms: 10_000, from_percent: 10 };
    let mut world = World::with(Policy { ramp: Some(ramp), jitter_percent: 50, ..QUICK });
    world.trip();
    world.now = 5_000;
    let permit = world.probe().permit;
    world.report(permit, Outcome::Success);
    assert_eq!(world.admitted().percent, 10);
    world.now = 10_000;
    world.random = 54;
    assert_eq!(world.admitted().percent, 55);
    world.random = 155;
    let deferral = world.deferred();
    assert_eq!((deferral.reason, deferral.retry_after, deferral.spread), (DeferReason::Ramping, 1_000, 500));
    let admission = deferral.admission.expect("a ramping deferral carries the admission");
    assert_eq!((admission.percent, admission.fresh_for, deferral.fresh_for), (55, 250, 250));
    world.now = 14_900;
    world.random = 0;
    assert_eq!(world.admitted().fresh_for, 100, "the answer holds until the ramp ends");
    world.now = 15_000;
    world.random = 99;
    assert_eq!(world.admitted().percent, 100);
}

#[test]
fn a_short_ramp_defers_for_at_least_one_ms() {
    let ramp = Ramp { over_ms: 9, from_percent: 0 };
    let mut world = World::with(Policy { ramp: Some(ramp), ..QUICK });
    world.trip();
    world.now = 5_000;
    let permit = world.probe().permit;
    world.report(permit, Outcome::Success);
    let deferral = world.deferred();
    assert_eq!((deferral.retry_after, deferral.spread, deferral.fresh_for), (1, 0, 9));
}

#[test]
fn a_receipt_says_the_state_and_when_a_probe_is_due() {
    let mut world = World::with(QUICK);
    world.now = 100;
    let permit = world.admitted().permit;
    let receipt = world.report(permit, Outcome::Failure);
    assert_eq!(receipt.next_due, Some(5_100));
    assert_eq!(world.inspect()["since"], 100);
    world.now = 5_100;
    let permit = world.probe().permit;
    assert_eq!(world.inspect()["next_due"], 8_100, "all leases are out until then");
    let receipt = world.report(permit, Outcome::Ignored);
    assert_eq!(receipt.next_due, Some(5_100), "the lease is free again");
    assert_eq!(world.force(Mode::Open, None).next_due, None);
    assert_eq!(world.force(Mode::Open, Some(500)).next_due, Some(5_600));
    let closed = world.receipt(Request::Reset { operator: operator("", "") });
    assert_eq!(closed.next_due, None);
}

#[test]
fn an_inspection_shows_leases_and_overrides() {
    let mut world = World::with(QUICK);
    world.trip();
    world.now = 5_000;
    world.acquire_as("P\n1");
    let token = world.inspect()["leases"][0]["token"].clone();
    world.now = 6_000;
    assert_eq!(world.inspect()["leases"], json!([{"token": token, "caller": "P 1", "expires_in_ms": 2_000}]));
    let act = operator("ann", &"é".repeat(100));
    world.receipt(Request::Force { mode: Mode::Open, lasting: Some(500), operator: act });
    world.now = 6_100;
    let note = "é".repeat(64);
    let forced = json!({"mode": "open", "since": 6_000, "ends_in_ms": 400, "by": "ann", "note": note});
    assert_eq!(world.inspect()["override"], forced);
    world.force(Mode::Closed, None);
    let forced = json!({"mode": "closed", "since": 6_100, "ends_in_ms": null, "by": "", "note": ""});
    assert_eq!(world.inspect()["override"], forced);
}

#[test]
fn an_inspection_of_a_missing_record_has_all_its_keys() {
    let shown = World::with(QUICK).inspect();
    let expected = json!({
        "dependency": "payments", "at": 0, "state": "closed", "override": null, "probe_due": false, "leases": [],
        "successes": 0, "level": 0, "calls": 0, "failures": 0, "slow": 0, "failures_in_row": 0, "epoch": 0,
        "since": null, "next_due": null, "last_failure": null, "last_change": null,
    });
    assert_eq!(shown, expected);
}

#[test]
fn an_inspection_counts_only_while_closed() {
    let slow = SlowCalls { slower_than_ms: 10, percent: 100, minimum_calls: 10 };
    let mut world = World::with(Policy { consecutive_failures: 2, slow_calls: Some(slow), ..QUICK });
    let permit = world.admitted().permit;
    world.receipt(Request::Report { permit, report: Report { took: Some(10), ..plain(Outcome::Failure) } });
    let shown = world.inspect();
    assert_eq!([&shown["calls"], &shown["failures"], &shown["slow"], &shown["failures_in_row"]], [1, 1, 1, 1]);
    world.report(permit, Outcome::Failure);
    let shown = world.inspect();
    assert_eq!([&shown["calls"], &shown["failures"], &shown["slow"], &shown["failures_in_row"]], [0, 0, 0, 0]);
    world.now = 5_000;
    world.probe();
    assert_eq!((&world.inspect()["successes"], &world.inspect()["probe_due"]), (&json!(0), &json!(false)));
}
