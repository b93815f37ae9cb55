//! What becomes of records that are damaged, newer or contended, and of stores that fail.

mod common;

use common::{QUICK, World};
use halfopen_guest::contract::{
    Error, Maybe, Mode, Outcome, Permit, PolicyOrigin, State, StorageError, Tally, Verdict,
};
use halfopen_guest::policy::BUILT_IN;
use halfopen_guest::step::{ATTEMPTS, Answer, Request};

fn every_request() -> Vec<Request> {
    let permit = Permit { epoch: 0, lease: Maybe::None };
    vec![
        Request::Acquire { caller: "".into() },
        Request::Report { permit, outcome: Outcome::Success, took: None },
        Request::ReportTally { permit, tally: Tally { successes: 1, ..Tally::NONE } },
        Request::Renew { permit },
        Request::Inspect,
        Request::Policy,
        Request::Configure(QUICK),
        Request::Force { mode: Mode::Open, lasting: None, note: "".into() },
        Request::Reset,
        Request::Forget,
        Request::Prune { idle: 0 },
    ]
}

fn mends(request: &Request) -> bool {
    matches!(request, Request::Reset | Request::Forget)
}

fn tripped() -> World {
    let mut world = World::with(QUICK);
    world.trip();
    world
}

#[test]
fn a_record_damaged_anywhere_is_refused_by_every_call_and_left_as_it_is() {
    let good = tripped().bytes().expect("a trip is written").to_vec();
    for at in 0..good.len() {
        let mut damaged = good.clone();
        damaged[at] ^= 0x10;
        let mut world = tripped();
        world.put(7, &damaged);
        for request in every_request().into_iter().filter(|request| !mends(request)) {
            let refused = world.ask(request.clone());
            assert!(
                matches!(refused, Err(Error::Storage(StorageError::Corrupt(_)))),
                "byte {at}, {request:?}: {refused:?}"
            );
        }
        assert_eq!(world.bytes(), Some(damaged.as_slice()));
    }
}

#[test]
fn a_damaged_record_can_be_reset_and_what_was_out_stays_stale() {
    for request in [Request::Reset, Request::Forget] {
        let mut world = tripped();
        world.now = 5_000;
        let probe = world.probe().permit;
        let version = world.records[common::NAME].0;
        world.put(version, b"rubbish");
        assert_eq!(world.receipt(request).state, State::Closed);
        assert_ne!(world.report(probe, Outcome::Success).verdict, Verdict::Applied);
        world.trip();
        world.now = 20_000;
        assert!(world.probe().permit.lease > probe.lease);
    }
}

#[test]
fn a_record_of_a_later_release_is_left_alone_by_every_call() {
    let mut newer = vec![2, 1, 2, 3];
    let checksum = halfopen_guest::codec::checksum(&newer);
    newer.extend_from_slice(&checksum);
    let mut world = World::with(QUICK);
    world.put(7, &newer);
    for request in every_request() {
        assert_eq!(world.ask(request.clone()), Err(Error::NewerVersion), "{request:?}");
    }
    assert_eq!(world.bytes(), Some(newer.as_slice()));
}

#[test]
fn a_lost_race_is_decided_again_on_the_newer_record() {
    let mut world = World { now: 5_000, ..tripped() };
    let permit = world.probe().permit;
    world.transitions.clear();
    world.races_to_lose = ATTEMPTS - 1;
    assert_eq!(world.report(permit, Outcome::Success).state, State::Closed);
    assert_eq!(world.transitions.len(), 1, "the attempts that lost left nothing");
}

#[test]
fn a_race_that_is_always_lost_ends_as_contended() {
    let mut world = World { now: 5_000, ..tripped() };
    let permit = world.probe().permit;
    let commits = world.commits;
    world.races_to_lose = u32::MAX;
    let report = Request::Report { permit, outcome: Outcome::Success, took: None };
    assert_eq!(world.ask(report), Err(Error::Contended));
    assert_eq!(world.commits, commits);
}

#[test]
fn a_failing_store_is_a_typed_error() {
    let full = StorageError::Unavailable("full".into());
    let mut world = tripped();
    world.commit_fails = Some(full.clone());
    world.now = 5_000;
    assert_eq!(world.ask(Request::Acquire { caller: "".into() }), Err(Error::Storage(full.clone())));
    world.commit_fails = None;
    world.load_fails = Some(full.clone());
    for request in every_request() {
        assert_eq!(world.ask(request), Err(Error::Storage(full.clone())));
    }
}

#[test]
fn an_own_policy_is_told_from_the_hosts() {
    let mut world = World::default();
    let ask = |world: &mut World| match world.ask(Request::Policy) {
        Ok(Answer::Policy(shown)) => (shown.policy, shown.origin),
        other => panic!("not a policy: {other:?}"),
    };
    assert_eq!(ask(&mut world), (BUILT_IN, PolicyOrigin::Host));
    world.receipt(Request::Configure(BUILT_IN));
    assert_eq!(world.commits, 0, "an equal policy changes nothing");
    world.receipt(Request::Configure(QUICK));
    assert_eq!(ask(&mut world), (QUICK, PolicyOrigin::Dependency));
    world.receipt(Request::Reset);
    assert_eq!(ask(&mut world), (QUICK, PolicyOrigin::Dependency), "a reset keeps it");
    world.receipt(Request::Forget);
    assert_eq!(ask(&mut world), (BUILT_IN, PolicyOrigin::Host));
}

#[test]
fn another_default_of_the_host_starts_the_window_empty_when_its_shape_differs() {
    let mut world = World::with(BUILT_IN);
    let permit = world.admitted().permit;
    world.report(permit, Outcome::Failure);
    assert_eq!(world.inspect().calls, 1);
    world.policy = Some(QUICK);
    assert_eq!(world.inspect().calls, 1);
    let other = halfopen_guest::contract::Window::Calls(5);
    world.policy = Some(halfopen_guest::contract::Policy { window: other, ..QUICK });
    assert_eq!((world.inspect().calls, world.inspect().failures_in_row), (0, 1));
}

#[test]
fn bad_input_is_refused_before_the_store_is_asked() {
    let mut world = World { load_fails: Some(StorageError::Other("asked".into())), ..World::with(QUICK) };
    let long_caller = Request::Acquire { caller: (&*"x".repeat(65)).into() };
    assert!(matches!(world.ask(long_caller), Err(Error::InvalidArgument(_))));
    let long_note = Request::Force { mode: Mode::Open, lasting: None, note: (&*"x".repeat(101)).into() };
    assert!(matches!(world.ask(long_note), Err(Error::InvalidArgument(_))));
    let mut wrong = QUICK;
    wrong.probes = 0;
    assert!(matches!(world.ask(Request::Configure(wrong)), Err(Error::InvalidPolicy(faults)) if faults.len() == 1));
}
