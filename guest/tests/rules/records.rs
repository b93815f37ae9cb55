//! Records that are damaged, newer or contended, and stores that fail.

use crate::common::{EMPTY, NAME, NO_OPERATOR, QUICK, World, plain};
use halfopen_guest::contract::{Error, Mode, Outcome, Permit, PolicyOrigin, State, StorageError, Tally, Verdict};
use halfopen_guest::policy::{BUILT_IN, Policy, WindowSpan};
use halfopen_guest::record::codec;
use halfopen_guest::step::{ATTEMPTS, Answer, Request};

fn every_request() -> Vec<Request> {
    let permit = Permit { epoch: 0, lease: None };
    vec![
        Request::Acquire { caller: String::new() },
        Request::Report { permit, report: plain(Outcome::Success) },
        Request::ReportTally { permit, tally: Tally { successes: 1, ..EMPTY } },
        Request::Renew { permit },
        Request::Release { permit },
        Request::Inspect,
        Request::Policy,
        Request::Configure { policy: Some(QUICK.to_json()), operator: NO_OPERATOR },
        Request::Configure { policy: None, operator: NO_OPERATOR },
        Request::Force { mode: Mode::Open, lasting: None, operator: NO_OPERATOR },
        Request::Reset { operator: NO_OPERATOR },
        Request::Forget { operator: NO_OPERATOR },
        Request::Prune { idle: 0, operator: NO_OPERATOR },
    ]
}

fn mends(request: &Request) -> bool {
    matches!(request, Request::Reset { .. } | Request::Forget { .. })
}

fn tripped() -> World {
    let mut world = World::with(QUICK);
    world.trip();
    world
}

#[test]
fn a_record_damaged_anywhere_is_refused_and_left_as_it_is() {
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
fn a_damaged_record_can_be_mended_and_old_permits_stay_stale() {
    for (request, reason) in
        [(Request::Reset { operator: NO_OPERATOR }, "reset"), (Request::Forget { operator: NO_OPERATOR }, "forgotten")]
    {
        let mut world = tripped();
        world.now = 5_000;
        let probe = world.probe().permit;
        let version = world.records[NAME].0;
        world.put(version, b"rubbish");
        assert_eq!(world.receipt(request).state, State::Closed);
        assert_eq!(world.reasons().last(), Some(&reason));
        assert_ne!(world.report(probe, Outcome::Success).verdict, Verdict::Applied);
        world.trip();
        world.now = 20_000;
        assert!(world.probe().permit.lease > probe.lease);
    }
}

#[test]
fn a_record_of_a_later_release_is_left_alone_by_every_call() {
    let mut newer = vec![codec::NEWEST_READ + 1, 1, 2, 3];
    let checksum = codec::checksum(&newer);
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
    let report = Request::Report { permit, report: plain(Outcome::Success) };
    assert_eq!(world.ask(report), Err(Error::Contended));
    assert_eq!(world.commits, commits);
    assert_eq!(u32::MAX - world.races_to_lose, ATTEMPTS);
}

#[test]
fn a_failing_store_is_a_typed_error() {
    let full = StorageError::Unavailable("full".into());
    let mut world = tripped();
    world.commit_fails = Some(full.clone());
    world.now = 5_000;
    assert_eq!(world.ask(Request::Acquire { caller: String::new() }), Err(Error::Storage(full.clone())));
    world.commit_fails = None;
    world.load_fails = Some(full.clone());
    for request in every_request() {
        assert_eq!(world.ask(request), Err(Error::Storage(full.clone())));
    }
}

#[test]
fn an_own_policy_has_another_origin_than_the_default() {
    let mut world = World::default();
    let ask = |world: &mut World| match world.ask(Request::Policy) {
        Ok(Answer::Policy(shown)) => (Policy::parse(&shown.policy).expect("a valid policy"), shown.origin),
        other => panic!("not a policy: {other:?}"),
    };
    let configure =
        |policy: Option<Policy>| Request::Configure { policy: policy.map(|p| p.to_json()), operator: NO_OPERATOR };
    assert_eq!(ask(&mut world), (BUILT_IN, PolicyOrigin::Host));
    world.receipt(configure(Some(BUILT_IN)));
    world.receipt(configure(None));
    assert_eq!(world.commits, 0, "an equal policy changes nothing");
    world.receipt(configure(Some(QUICK)));
    assert_eq!(ask(&mut world), (QUICK, PolicyOrigin::Dependency));
    world.receipt(Request::Reset { operator: NO_OPERATOR });
    assert_eq!(ask(&mut world), (QUICK, PolicyOrigin::Dependency), "a reset keeps it");
    world.receipt(configure(None));
    assert_eq!(ask(&mut world), (BUILT_IN, PolicyOrigin::Host), "with none the default is back");
    world.receipt(configure(Some(QUICK)));
    world.receipt(Request::Forget { operator: NO_OPERATOR });
    assert_eq!(ask(&mut world), (BUILT_IN, PolicyOrigin::Host));
}

#[test]
fn an_own_policy_equal_to_the_default_is_taken_back() {
    let mut world = World::with(BUILT_IN);
    world.receipt(Request::Configure { policy: Some(QUICK.to_json()), operator: NO_OPERATOR });
    world.policy = Some(QUICK);
    world.receipt(Request::Configure { policy: None, operator: NO_OPERATOR });
    assert_eq!(world.reasons(), ["configured"], "the policy in force stays the same");
    match world.ask(Request::Policy) {
        Ok(Answer::Policy(shown)) => assert_eq!(shown.origin, PolicyOrigin::Host),
        other => panic!("not a policy: {other:?}"),
    }
}

#[test]
fn another_default_of_another_window_starts_it_empty() {
    let mut world = World::with(BUILT_IN);
    let permit = world.admitted().permit;
    world.report(permit, Outcome::Failure);
    assert_eq!(world.inspect()["calls"], 1);
    world.policy = Some(QUICK);
    assert_eq!(world.inspect()["calls"], 1);
    world.policy = Some(Policy { window: WindowSpan::Calls(5), ..QUICK });
    assert_eq!((world.inspect()["calls"].as_u64(), world.inspect()["failures_in_row"].as_u64()), (Some(0), Some(1)));
}

#[test]
fn bad_input_is_refused_before_the_store_is_asked() {
    let mut world = World { load_fails: Some(StorageError::Other("asked".into())), ..World::with(QUICK) };
    let wrong = Request::Configure { policy: Some(r#"{"probes": 0}"#.into()), operator: NO_OPERATOR };
    assert!(matches!(world.ask(wrong), Err(Error::InvalidPolicy(faults)) if faults.len() == 1));
    assert!(matches!(world.ask_of("", Request::Inspect), Err(Error::InvalidDependency(_))));
}

#[test]
fn an_idle_record_is_a_few_dozen_bytes() {
    let mut world = World { now: 1_700_000_000_000, ..World::with(QUICK) };
    let permit = world.admitted().permit;
    world.report(permit, Outcome::Success);
    let bytes = world.bytes().expect("a report is written").len();
    assert!(bytes <= 48, "{bytes} bytes");
}
