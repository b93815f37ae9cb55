//! The last failure: it is kept, it is shown, and it decides nothing.

use crate::common::{EMPTY, NO_OPERATOR, QUICK, World, plain};
use halfopen_guest::contract::{Mode, Outcome, Permit, Report, Tally};
use halfopen_guest::policy::{Policy, SlowCalls, WindowSpan};
use halfopen_guest::step::Request;
use serde_json::{Value, json};

fn failed(world: &mut World, permit: Permit, outcome: Outcome, caller: &str, cause: &str) {
    let report = Report { caller: caller.into(), cause: cause.into(), ..plain(outcome) };
    world.receipt(Request::Report { permit, report });
}

fn shown(world: &mut World) -> Value {
    world.inspect()["last_failure"].clone()
}

fn counting() -> (World, Permit) {
    let mut world = World { now: 10, ..World::with(Policy { consecutive_failures: 100, ..QUICK }) };
    let permit = world.admitted().permit;
    (world, permit)
}

#[test]
fn a_counted_failure_or_timeout_is_the_last_one() {
    let (mut world, permit) = counting();
    for outcome in [Outcome::Failure, Outcome::Timeout] {
        world.now += 1;
        failed(&mut world, permit, outcome, "A\n", &"x".repeat(200));
        let expected = json!({"at": world.now, "caller": "A ", "cause": "x".repeat(128)});
        assert_eq!(shown(&mut world), expected);
    }
    failed(&mut world, permit, Outcome::Failure, "", "");
    let expected = json!({"at": 12, "caller": "", "cause": ""});
    assert_eq!(shown(&mut world), expected, "one without texts replaces older ones");
}

#[test]
fn a_failure_while_forced_closed_is_counted_too() {
    let (mut world, _) = counting();
    world.force(Mode::Closed, None);
    let permit = world.admitted().permit;
    failed(&mut world, permit, Outcome::Failure, "A", "503");
    assert_eq!(shown(&mut world), json!({"at": 10, "caller": "A", "cause": "503"}));
}

#[test]
fn other_outcomes_and_stale_reports_leave_it() {
    let slow = SlowCalls { slower_than_ms: 1, percent: 100, minimum_calls: 1_000 };
    let mut world = World::with(Policy { slow_calls: Some(slow), ..QUICK });
    let permit = world.admitted().permit;
    let report = Report { took: Some(5), caller: "A".into(), cause: "slow".into(), ..plain(Outcome::Success) };
    world.receipt(Request::Report { permit, report });
    failed(&mut world, permit, Outcome::Ignored, "A", "cancelled");
    let tally = Tally { slow_successes: 3, caller: "A".into(), cause: "slow".into(), ..EMPTY };
    world.receipt(Request::ReportTally { permit, tally });
    failed(&mut world, Permit { epoch: 77, lease: None }, Outcome::Failure, "A", "503");
    assert_eq!(shown(&mut world), Value::Null);
}

#[test]
fn a_tally_gives_its_last_failure() {
    let (mut world, permit) = counting();
    for (failures, slow_failures) in [(1, 0), (0, 1)] {
        world.now += 1;
        let tally = Tally { failures, slow_failures, caller: "T".into(), cause: "503".into(), ..EMPTY };
        world.receipt(Request::ReportTally { permit, tally });
        assert_eq!(shown(&mut world), json!({"at": world.now, "caller": "T", "cause": "503"}));
    }
}

#[test]
fn a_failed_probe_is_the_last_failure_until_a_reset() {
    let mut world = World::with(QUICK);
    world.trip();
    world.now = 5_000;
    let permit = world.probe().permit;
    failed(&mut world, permit, Outcome::Timeout, "P", "no answer");
    assert_eq!(shown(&mut world), json!({"at": 5_000, "caller": "P", "cause": "no answer"}));
    world.now = 60_000;
    let permit = world.probe().permit;
    world.report(permit, Outcome::Success);
    assert_eq!(shown(&mut world)["caller"], "P", "a change of state keeps it");
    world.receipt(Request::Reset { operator: NO_OPERATOR });
    assert_eq!(shown(&mut world), Value::Null);
}

#[test]
fn a_later_instant_is_shown_as_now_and_causes_no_write() {
    let (mut world, permit) = counting();
    world.policy = Some(Policy { window: WindowSpan::Calls(10), consecutive_failures: 100, ..QUICK });
    world.now = 1_000;
    failed(&mut world, permit, Outcome::Failure, "A", "503");
    let commits = world.commits;
    world.now = 400;
    assert_eq!(shown(&mut world)["at"], 400);
    world.admitted();
    assert_eq!(world.commits, commits);
}

#[test]
fn a_wish_of_the_dependency_counts_only_where_the_report_opens() {
    let (mut world, permit) = counting();
    let wish = Report { retry_after: Some(60_000), ..plain(Outcome::Failure) };
    world.receipt(Request::Report { permit, report: wish });
    world.policy = Some(Policy { consecutive_failures: 2, ..QUICK });
    world.report(permit, Outcome::Failure);
    assert_eq!(world.deferred().retry_after, 5_000);

    let slow = SlowCalls { slower_than_ms: 1, percent: 100, minimum_calls: 1 };
    let mut world = World::with(Policy { slow_calls: Some(slow), ..QUICK });
    let permit = world.admitted().permit;
    let tally = Tally { slow_successes: 1, retry_after: Some(7_000), ..EMPTY };
    world.receipt(Request::ReportTally { permit, tally });
    assert_eq!(world.deferred().retry_after, 7_000, "also where slow successes open it");
    world.now = 7_000;
    let permit = world.probe().permit;
    let report = Report { took: Some(1), retry_after: Some(20_000), ..plain(Outcome::Success) };
    world.receipt(Request::Report { permit, report });
    assert_eq!(world.deferred().retry_after, 20_000, "and where a slow probe does");
}
