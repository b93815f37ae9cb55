//! Why a report counts for nothing: the first reason that fits. And that it then changes nothing.

use crate::common::{EMPTY, NO_OPERATOR, QUICK, World};
use halfopen_guest::contract::{Mode, Outcome, Permit, StaleReason, Tally, Verdict};
use halfopen_guest::policy::Policy;
use halfopen_guest::step::Request;

fn half_open(policy: Policy) -> (World, Permit, Permit) {
    let mut world = World::with(policy);
    let call = world.admitted().permit;
    world.trip();
    world.now = 5_000;
    let probe = world.probe().permit;
    (world, call, probe)
}

fn assert_stale(world: &mut World, permit: Permit, reason: StaleReason) {
    let before = world.bytes().map(<[u8]>::to_vec);
    let commits = world.commits;
    for outcome in [Outcome::Success, Outcome::Failure, Outcome::Timeout, Outcome::Ignored] {
        let receipt = world.report(permit, outcome);
        assert_eq!(receipt.verdict, Verdict::Stale(reason.clone()), "{outcome:?}");
    }
    let released = world.receipt(Request::Release { permit });
    assert_eq!(released.verdict, Verdict::Stale(reason));
    assert_eq!(world.bytes().map(<[u8]>::to_vec), before, "a stale report changes nothing");
    assert_eq!(world.commits, commits);
}

#[test]
fn a_call_of_an_older_epoch() {
    let (mut world, call, _) = half_open(QUICK);
    assert_stale(&mut world, call, StaleReason::OldEpoch);
}

#[test]
fn a_lease_that_has_expired_taken_over_or_not() {
    let (mut world, _, probe) = half_open(QUICK);
    world.now = 8_000;
    assert_stale(&mut world, probe, StaleReason::LeaseExpired);
    let successor = world.probe().permit;
    assert_ne!(successor.lease, probe.lease);
    assert_stale(&mut world, probe, StaleReason::LeaseExpired);
    let renewal = world.receipt(Request::Renew { permit: probe });
    assert_eq!(renewal.verdict, Verdict::Stale(StaleReason::LeaseExpired));
}

#[test]
fn a_repeated_report_also_after_a_change_of_state() {
    let (mut world, _, probe) = half_open(QUICK);
    assert_eq!(world.report(probe, Outcome::Success).verdict, Verdict::Applied);
    assert_stale(&mut world, probe, StaleReason::AlreadyReported);
}

#[test]
fn a_released_lease_reported_again() {
    let (mut world, _, probe) = half_open(QUICK);
    assert_eq!(world.receipt(Request::Release { permit: probe }).verdict, Verdict::Applied);
    assert_stale(&mut world, probe, StaleReason::AlreadyReported);
}

#[test]
fn any_report_while_forced_open() {
    let (mut world, call, probe) = half_open(QUICK);
    world.force(Mode::Open, None);
    assert_stale(&mut world, probe, StaleReason::Forced);
    assert_stale(&mut world, call, StaleReason::Forced);
    let receipt = world.receipt(Request::ReportTally { permit: probe, tally: EMPTY });
    assert_eq!(receipt.verdict, Verdict::Stale(StaleReason::Forced));
}

#[test]
fn an_older_report_while_forced_closed() {
    let (mut world, call, probe) = half_open(QUICK);
    world.force(Mode::Closed, None);
    assert_stale(&mut world, probe, StaleReason::Forced);
    assert_stale(&mut world, call, StaleReason::Forced);
}

#[test]
fn permits_that_were_not_granted() {
    let (mut world, call, probe) = half_open(QUICK);
    let future = Permit { epoch: u64::MAX, lease: None };
    assert_stale(&mut world, future, StaleReason::UnknownPermit);
    let next = Some(probe.lease.expect("a lease") + 1);
    assert_stale(&mut world, Permit { lease: next, ..probe }, StaleReason::UnknownPermit);
    assert_stale(&mut world, Permit { epoch: u64::MAX, ..probe }, StaleReason::UnknownPermit);
    assert_stale(&mut world, Permit { epoch: call.epoch, ..probe }, StaleReason::OldEpoch);
    assert_stale(&mut world, Permit { lease: None, ..probe }, StaleReason::UnknownPermit);
}

#[test]
fn a_tally_under_a_lease() {
    let (mut world, _, probe) = half_open(QUICK);
    for failures in [0, 1] {
        let tally = Tally { failures, ..EMPTY };
        let receipt = world.receipt(Request::ReportTally { permit: probe, tally });
        assert!(matches!(receipt.verdict, Verdict::Stale(StaleReason::Other(_))), "{:?}", receipt.verdict);
    }
    assert_eq!(world.report(probe, Outcome::Success).verdict, Verdict::Applied, "the lease is untouched");
}

#[test]
fn a_renewal_without_a_lease() {
    let (mut world, call, _) = half_open(QUICK);
    let receipt = world.receipt(Request::Renew { permit: call });
    assert_eq!(receipt.verdict, Verdict::Stale(StaleReason::UnknownPermit));
}

#[test]
fn permits_of_a_record_that_was_forgotten() {
    let forget = || Request::Forget { operator: NO_OPERATOR };
    let mut world = World::with(QUICK);
    for _ in 0..3 {
        let before = world.admitted().permit;
        world.receipt(forget());
        assert_stale(&mut world, before, StaleReason::OldEpoch);
    }
    let (mut world, _, probe) = half_open(QUICK);
    world.receipt(forget());
    assert_stale(&mut world, probe, StaleReason::OldEpoch);
    world.trip();
    world.now = 10_000;
    let successor = world.probe().permit;
    assert!(successor.lease > probe.lease, "tokens go on rising");
}
