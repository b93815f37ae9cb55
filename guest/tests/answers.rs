//! What `acquire` tells a process beyond yes and no.

mod common;

use common::{QUICK, World};
use halfopen_guest::contract::{DeferReason, Maybe, Mode, Outcome, Policy, Ramp, SlowCalls};
use halfopen_guest::policy::BUILT_IN;
use halfopen_guest::step::Request;

fn force(mode: Mode, lasting: Option<u64>) -> Request {
    Request::Force { mode, lasting, note: "".into() }
}

#[test]
fn a_healthy_breaker_admits_without_writing_and_says_for_how_long() {
    let mut world = World::with(BUILT_IN);
    let admission = world.admitted();
    assert_eq!((admission.percent, admission.fresh_for, admission.slower_than), (100, 250, Maybe::None));
    assert_eq!(world.commits, 0);
}

#[test]
fn what_is_slow_is_told_to_whoever_makes_the_call() {
    let slow = SlowCalls { slower_than_ms: 700, percent: 50, minimum_calls: 4 };
    let mut world = World::with(Policy { slow_calls: Maybe::Some(slow), ..QUICK });
    assert_eq!(world.admitted().slower_than, Some(700));
    world.trip();
    world.now = 5_000;
    assert_eq!(world.probe().slower_than, Some(700));
}

#[test]
fn an_open_breaker_says_what_is_left_and_how_far_to_spread() {
    let mut world = World::with(Policy { jitter_percent: 20, ..QUICK });
    world.trip();
    world.now = 4_900;
    let deferral = world.deferred();
    assert_eq!(deferral.reason, DeferReason::Open);
    assert_eq!((deferral.retry_after, deferral.spread), (100, 20));
    assert_eq!(deferral.fresh_for, 100, "a process looks again when the window ends");
    assert_eq!(deferral.admission, None);
}

#[test]
fn a_second_claimant_is_told_when_the_lease_ends() {
    let mut world = World::with(QUICK);
    world.trip();
    world.now = 5_000;
    assert_eq!(world.probe().expires_in, 3_000);
    world.now = 5_400;
    let deferral = world.deferred();
    assert_eq!((deferral.reason, deferral.retry_after, deferral.fresh_for), (DeferReason::Probing, 2_600, 250));
}

#[test]
fn nobody_acts_on_an_override_after_its_end() {
    let mut world = World::with(QUICK);
    world.receipt(force(Mode::Open, Some(1_000)));
    world.now = 900;
    let deferral = world.deferred();
    assert_eq!((deferral.reason, deferral.retry_after, deferral.fresh_for), (DeferReason::ForcedOpen, 5_000, 100));
    world.receipt(force(Mode::Closed, Some(1_000)));
    world.now = 1_800;
    assert_eq!(world.admitted().fresh_for, 100);
}

#[test]
fn during_a_ramp_the_percentage_grows_and_a_deferral_carries_the_admission() {
    let ramp = Ramp { over_ms: 10_000, from_percent: 10 };
    let mut world = World::with(Policy { ramp: Maybe::Some(ramp), jitter_percent: 50, ..QUICK });
    world.trip();
    world.now = 5_000;
    let permit = world.probe().permit;
    world.report(permit, Outcome::Success);
    world.now = 10_000;
    world.random = 54;
    assert_eq!(world.admitted().percent, 55);
    world.random = 55;
    let deferral = world.deferred();
    assert_eq!((deferral.reason, deferral.retry_after, deferral.spread), (DeferReason::Ramping, 1_000, 500));
    let admission = deferral.admission.get().expect("a ramping deferral carries the admission");
    assert_eq!((admission.percent, admission.fresh_for), (55, 250));
    world.now = 14_900;
    world.random = 0;
    assert_eq!(world.admitted().fresh_for, 100, "a process looks again when the ramp ends");
    world.now = 15_000;
    world.random = 99;
    assert_eq!(world.admitted().percent, 100);
}

#[test]
fn a_receipt_says_the_state_and_when_the_next_probe_is_due() {
    let mut world = World::with(QUICK);
    world.now = 100;
    let permit = world.admitted().permit;
    let receipt = world.report(permit, Outcome::Failure);
    assert_eq!(receipt.next_due, Some(5_100));
    assert_eq!(world.inspect().since, Some(100));
    world.now = 5_100;
    let permit = world.probe().permit;
    assert_eq!(world.inspect().next_due, Some(8_100), "all leases are out until then");
    let receipt = world.receipt(Request::Report { permit, outcome: Outcome::Ignored, took: None });
    assert_eq!(receipt.next_due, Some(5_100), "the lease is free again");
    let closed = world.receipt(Request::Reset);
    assert_eq!(closed.next_due, None);
}

#[test]
fn an_inspection_shows_who_holds_the_lease_and_what_is_forced() {
    let mut world = World::with(QUICK);
    world.trip();
    world.now = 5_000;
    let token = world.probe().permit.lease;
    world.now = 6_000;
    let shown = world.inspect();
    assert_eq!(shown.leases.len(), 1);
    let lease = &shown.leases[0];
    assert_eq!((Maybe::Some(lease.token), &*lease.caller, lease.expires_in), (token, "A", 2_000));
    world.receipt(Request::Force { mode: Mode::Open, lasting: Some(500), note: "by hand".into() });
    world.now = 6_100;
    let forced = world.inspect().override_.get().expect("it is forced");
    assert_eq!(
        (forced.mode, forced.since, forced.ends_in, &*forced.note),
        (Mode::Open, 6_000, Maybe::Some(400), "by hand")
    );
}
