//! Records that nobody needs any more are removed, and no others.

mod common;

use common::{QUICK, World};
use halfopen_guest::contract::{Mode, Outcome, Permit, StaleReason, Verdict};
use halfopen_guest::step::{Answer, Request};

fn prune(world: &mut World, idle: u64) -> bool {
    match world.ask(Request::Prune { idle }) {
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
fn a_closed_record_goes_once_nothing_was_written_to_it_for_so_long() {
    let (mut world, permit) = used();
    world.now = 1_499;
    assert!(!prune(&mut world, 500));
    assert!(world.bytes().is_some());
    world.now = 1_500;
    assert!(prune(&mut world, 500));
    assert!(world.bytes().is_none());
    let late = world.report(permit, Outcome::Failure);
    assert_eq!(late.verdict, Verdict::Stale(StaleReason::OldEpoch), "what was out stays stale");
}

#[test]
fn whatever_is_written_starts_the_time_anew() {
    let (mut world, permit) = used();
    world.now = 1_400;
    world.report(permit, Outcome::Success);
    world.now = 1_800;
    assert!(!prune(&mut world, 500));
    world.now = 1_900;
    assert!(prune(&mut world, 500));
}

#[test]
fn a_record_that_is_open_half_open_forced_or_has_a_policy_of_its_own_stays() {
    let (mut open, _) = used();
    open.trip();
    let mut half_open = World { now: 1_000, ..World::with(QUICK) };
    half_open.trip();
    half_open.now += QUICK.open_ms;
    half_open.probe();
    let force = |mode| Request::Force { mode, lasting: None, note: "".into() };
    let (mut forced_open, _) = used();
    forced_open.receipt(force(Mode::Open));
    let (mut forced_closed, _) = used();
    forced_closed.receipt(force(Mode::Closed));
    let (mut configured, _) = used();
    configured.receipt(Request::Configure(halfopen_guest::policy::BUILT_IN));
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
    world.receipt(Request::Force { mode: Mode::Closed, lasting: Some(100), note: "".into() });
    world.now += 100;
    assert!(prune(&mut world, 100));
}

#[test]
fn where_there_is_no_record_none_is_removed() {
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
