//! A clock that steps back, and writes that it causes: `acquire` stores the correction, other calls do not.

use halfopen_guest::contract::{Mode, Outcome};
use halfopen_guest::policy::{Policy, WindowSpan};
use halfopen_guest::step::Request;

use crate::common::{NO_OPERATOR, QUICK, World};

/// The number of commits that acquires at one instant make.
fn commits_of_acquires(world: &World, now: u64) -> [usize; 2] {
    let mut world = World { now, ..world.clone() };
    [(); 2].map(|()| {
        let before = world.commits;
        world.acquire();
        world.commits - before
    })
}

fn at(now: u64, policy: Policy) -> World {
    World { now, ..World::with(policy) }
}

fn half_open(policy: Policy) -> World {
    let mut world = at(0, policy);
    world.trip();
    world.now = 5_000;
    world.probe();
    world
}

#[test]
fn an_acquire_at_the_instant_of_a_change_writes_nothing() {
    let mut closed = at(1_000, QUICK);
    closed.receipt(Request::Reset { operator: NO_OPERATOR });
    let mut open = at(1_000, QUICK);
    open.trip();
    let forced = [Mode::Open, Mode::Closed].map(|mode| {
        let mut world = at(1_000, QUICK);
        world.force(mode, None);
        world
    });
    let mut counted = at(1_000, Policy { consecutive_failures: 9, ..QUICK });
    let permit = counted.admitted().permit;
    counted.report(permit, Outcome::Failure);
    for world in [closed, open, counted].iter().chain(&forced) {
        assert_eq!(commits_of_acquires(world, 1_000), [0, 0]);
    }
    assert_eq!(commits_of_acquires(&half_open(QUICK), 5_000), [0, 0]);
}

#[test]
fn an_acquire_stores_a_correction_once() {
    let mut closed = at(1_000, QUICK);
    closed.receipt(Request::Reset { operator: NO_OPERATOR });
    let mut open = at(1_000, QUICK);
    open.trip();
    for world in [closed, open] {
        assert_eq!(commits_of_acquires(&world, 999), [1, 0]);
    }
    assert_eq!(commits_of_acquires(&half_open(QUICK), 4_999), [1, 0]);
}

#[test]
fn a_correction_of_one_field_alone_is_stored() {
    // Forced again later: the state is older than the override.
    for mode in [Mode::Open, Mode::Closed] {
        let mut world = at(1_000, QUICK);
        world.force(mode, None);
        world.now = 2_000;
        world.force(mode, None);
        assert_eq!(commits_of_acquires(&world, 1_500), [1, 0]);
    }
    // A second lease, granted later.
    let mut world = half_open(Policy { probes: 2, ..QUICK });
    world.now = 6_000;
    world.probe();
    assert_eq!(commits_of_acquires(&world, 5_500), [1, 0]);
    // A renewal, later than the grant.
    let mut world = half_open(QUICK);
    let token = world.inspect()["leases"][0]["token"].as_u64();
    let permit = halfopen_guest::contract::Permit { epoch: 2, lease: token };
    world.now = 6_000;
    world.receipt(Request::Renew { permit });
    assert_eq!(commits_of_acquires(&world, 5_500), [1, 0]);
    // An outcome in a later bucket.
    let mut world = at(0, Policy { consecutive_failures: 9, window: WindowSpan::Ms(100), ..QUICK });
    let permit = world.admitted().permit;
    world.now = 55;
    world.report(permit, Outcome::Failure);
    assert_eq!(commits_of_acquires(&world, 49), [1, 0]);
}

#[test]
fn other_calls_store_no_correction() {
    let mut world = half_open(QUICK);
    world.now = 4_000;
    let before = world.records.clone();
    world.inspect();
    world.force(Mode::None, None);
    world.report(halfopen_guest::contract::Permit { epoch: 0, lease: None }, Outcome::Failure);
    assert_eq!(world.records, before);
}

#[test]
fn an_acquire_stores_that_an_override_has_ended() {
    for lasting in [0, 500] {
        let mut world = at(1_000, QUICK);
        world.force(Mode::Closed, Some(lasting));
        assert_eq!(commits_of_acquires(&world, 1_000 + lasting), [1, 0]);
    }
    let mut world = at(1_000, QUICK);
    world.force(Mode::Closed, Some(0));
    assert_eq!(commits_of_acquires(&world, 900), [1, 0], "also where the clock has stepped back");
}

#[test]
fn a_lease_granted_after_now_is_stored_as_granted_now() {
    let mut world = World::with(QUICK);
    world.trip();
    world.now = 5_000;
    let permit = world.probe().permit;
    world.now = 7_000;
    world.report(permit, Outcome::Ignored);
    world.now = 10_000;
    world.probe();
    // The half-open state is older than this, the lease alone is not.
    world.now = 6_000;
    let commits = world.commits;
    assert_eq!(world.deferred().retry_after, 3_000);
    assert_eq!(world.commits, commits + 1);
    world.deferred();
    assert_eq!(world.commits, commits + 1, "nothing is left to correct");
}

#[test]
fn a_closing_and_outcomes_after_now_are_stored_as_of_now() {
    let mut world = World::with(QUICK);
    world.trip();
    world.now = 5_000;
    let permit = world.probe().permit;
    world.report(permit, Outcome::Success);
    let permit = world.admitted().permit;
    world.report(permit, Outcome::Success);
    world.now = 1_000;
    let commits = world.commits;
    world.admitted();
    assert_eq!(world.commits, commits + 1);
    assert_eq!(world.inspect()["since"], 1_000);
}
