//! Records that are no longer used are removed, and no others.

use crate::common::{NO_OPERATOR, QUICK, World, operator};
use halfopen_guest::contract::{Mode, Outcome, Permit, StaleReason, Verdict};
use halfopen_guest::policy::BUILT_IN;
use halfopen_guest::step::{Answer, Request};

fn prune(world: &mut World, idle: u64) -> bool {
    match world.ask(Request::Prune { idle, operator: operator("cron", "nightly") }) {
        Ok(Answer::Pruned(removed)) => removed,
        other => panic!("not an answer to prune: {other:?}"),
    }
}

/// Closed, and written last at 1,000.
fn used() -> (World, Permit) {
    let mut world = World { now: 1_000, ..World::with(QUICK) };
    let permit = world.admitted().permit;
    world.report(permit, Outcome::Success);
    (world, permit)
}

#[test]
fn a_closed_record_goes_once_it_is_idle() {
    let (mut world, permit) = used();
    world.now = 1_499;
    assert!(!prune(&mut world, 500));
    assert!(world.bytes().is_some());
    world.now = 1_500;
    assert!(prune(&mut world, 500));
    assert!(world.bytes().is_none());
    let late = world.report(permit, Outcome::Failure);
    assert_eq!(late.verdict, Verdict::Stale(StaleReason::OldEpoch), "permits that are out stay stale");
}

#[test]
fn a_pruned_record_leaves_one_transition() {
    let (mut world, _) = used();
    world.now = 1_500;
    assert!(prune(&mut world, 500));
    let gone = world.transitions.last().expect("a transition");
    assert_eq!(
        (&gone["reason"], &gone["from"], &gone["to"]),
        (&"forgotten".into(), &"closed".into(), &"closed".into())
    );
    assert_eq!((&gone["by"], &gone["note"]), (&"cron".into(), &"nightly".into()));
    assert_eq!(world.transitions.len(), 1);
}

#[test]
fn each_write_starts_the_idle_time_anew() {
    let (mut world, permit) = used();
    world.now = 1_400;
    world.report(permit, Outcome::Success);
    world.now = 1_800;
    assert!(!prune(&mut world, 500));
    world.now = 1_900;
    assert!(prune(&mut world, 500));
}

#[test]
fn an_open_half_open_forced_or_configured_record_stays() {
    let (mut open, _) = used();
    open.trip();
    let mut half_open = World { now: 1_000, ..World::with(QUICK) };
    half_open.trip();
    half_open.now += QUICK.open_ms;
    half_open.probe();
    let (mut forced_open, _) = used();
    forced_open.force(Mode::Open, None);
    let (mut forced_closed, _) = used();
    forced_closed.force(Mode::Closed, None);
    let (mut configured, _) = used();
    configured.receipt(Request::Configure { policy: Some(BUILT_IN.to_json()), operator: NO_OPERATOR });
    for mut world in [open, half_open, forced_open, forced_closed, configured] {
        world.now += 1_000_000_000;
        let before = world.bytes().map(<[u8]>::to_vec);
        assert!(!prune(&mut world, 0));
        assert_eq!(world.bytes(), before.as_deref(), "and nothing is written");
    }
}

#[test]
fn an_override_that_has_ended_keeps_no_record() {
    let (mut world, _) = used();
    world.force(Mode::Closed, Some(100));
    world.now += 100;
    assert!(prune(&mut world, 100));
    assert_eq!(world.reasons(), ["forced", "override-ended", "forgotten"]);
}

#[test]
fn a_missing_record_is_not_removed() {
    let mut world = World::with(QUICK);
    assert!(!prune(&mut world, 0));
    assert_eq!(world.commits, 0);
}

#[test]
fn a_clock_that_stepped_back_removes_nothing_early() {
    let (mut world, _) = used();
    world.now = 10;
    assert!(!prune(&mut world, 1));
    assert!(prune(&mut world, 0));
}
