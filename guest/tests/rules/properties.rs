//! Properties of policies, records and rules over generated input.

use crate::common::policies::{any_json, any_policy};
use crate::common::{EMPTY, NAME, NO_OPERATOR, QUICK, World, operator, plain};
use halfopen_guest::contract::{Decision, Error, Mode, Outcome, Permit, Report, StorageError, Tally, Verdict};
use halfopen_guest::policy::{LostProbe, Policy, Ramp, SlowCalls, WindowSpan};
use halfopen_guest::record::codec;
use halfopen_guest::step::{Answer, Request};
use proptest::prelude::*;
use serde_json::Value;

proptest! {
    #[test]
    fn any_json_is_a_valid_policy_or_has_faults(value in any_json()) {
        match Policy::parse(&value.to_string()) {
            Ok(policy) => prop_assert!(policy.is_valid()),
            Err(faults) => prop_assert!(!faults.is_empty()),
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in ".{0,200}") {
        let _ = Policy::parse(&text);
        let _ = Policy::parse(&format!("{{{text}"));
    }

    #[test]
    fn a_valid_policy_is_read_as_it_was_written(policy in any_policy()) {
        prop_assert!(policy.is_valid());
        prop_assert_eq!(Policy::parse(&policy.to_json()), Ok(policy));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(codec::decode(&bytes).is_err());
    }

    /// The checksum is right, so each range is judged. A record that passes serves every operation.
    #[test]
    fn any_bytes_with_a_checksum_are_corrupt_or_serve(
        edits in proptest::collection::vec((any::<usize>(), any::<u8>()), 1..4),
        steps in proptest::collection::vec(any_step(), 0..12),
        now in any::<u64>(),
    ) {
        let mut world = played(&steps);
        let Some(bytes) = world.bytes() else { return Ok(()) };
        let mut bytes = bytes[..bytes.len() - 8].to_vec();
        for (at, byte) in edits {
            let at = 1 + at % (bytes.len() - 1);
            bytes[at] = byte;
        }
        let checksum = codec::checksum(&bytes);
        bytes.extend_from_slice(&checksum);
        world.put(7, &bytes);
        world.now = now;
        let sound = codec::decode(&bytes).is_ok();
        for step in &steps {
            let answer = world.ask(step.request(Permit { epoch: 1, lease: Some(1) }));
            let corrupt = matches!(answer, Err(Error::Storage(StorageError::Corrupt(_))));
            prop_assert_eq!(corrupt, !sound && !step.mends());
            if step.mends() {
                break;
            }
        }
    }

    #[test]
    fn a_record_is_read_as_it_was_written(steps in proptest::collection::vec(any_step(), 0..40)) {
        let world = played(&steps);
        if let Some(bytes) = world.bytes() {
            let record = codec::decode(bytes).expect("a record that was written is sound");
            prop_assert_eq!(codec::encode(&record), bytes);
        }
    }

    #[test]
    fn the_rules_hold_in_any_order_of_operations(steps in proptest::collection::vec(any_step(), 0..60)) {
        played(&steps);
    }
}

/// A step, on a clock that goes on or back.
#[derive(Clone, Debug)]
struct Step {
    wait: i64,
    kind: Kind,
    /// Which of the permits so far it is about.
    permit: usize,
    random: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Acquire,
    Report(Outcome, u64, Option<u64>),
    Tally([u64; 4], Option<u64>),
    Renew,
    Release,
    Configure(Option<usize>),
    Force(Mode, Option<u64>),
    Reset,
    Forget,
    Prune,
}

fn any_step() -> impl Strategy<Value = Step> {
    let outcome = proptest::sample::select(vec![
        Outcome::Success,
        Outcome::Failure,
        Outcome::Failure,
        Outcome::Timeout,
        Outcome::Ignored,
    ]);
    let retry_after = || proptest::option::of(0u64..100_000);
    let kind = prop_oneof![
        6 => Just(Kind::Acquire),
        6 => (outcome, 0u64..20, retry_after()).prop_map(|(outcome, took, after)| Kind::Report(outcome, took, after)),
        1 => (proptest::array::uniform4(0u64..4), retry_after()).prop_map(|(counts, after)| Kind::Tally(counts, after)),
        1 => Just(Kind::Renew),
        1 => Just(Kind::Release),
        1 => proptest::option::of(0usize..4).prop_map(Kind::Configure),
        1 => (
            proptest::sample::select(vec![Mode::Open, Mode::Closed, Mode::None]),
            proptest::option::of(0u64..20_000),
        )
            .prop_map(|(mode, lasting)| Kind::Force(mode, lasting)),
        1 => proptest::sample::select(vec![Kind::Reset, Kind::Forget, Kind::Prune]),
    ];
    let wait = prop_oneof![4 => 0i64..4_000, 1 => 0i64..100_000, 1 => -10_000i64..0];
    (wait, kind, 0usize..4, 0u64..1_000).prop_map(|(wait, kind, permit, random)| Step { wait, kind, permit, random })
}

/// Policies that differ in all that the rules look at.
fn policies() -> [Policy; 4] {
    let slow = SlowCalls { slower_than_ms: 10, percent: 50, minimum_calls: 2 };
    let ramp = Ramp { over_ms: 10_000, from_percent: 10 };
    [
        Policy { probes: 2, ..QUICK },
        Policy { consecutive_failures: 2, slow_calls: Some(slow), lost_probe: LostProbe::Reopen, ..QUICK },
        Policy { ramp: Some(ramp), successes_to_close: 2, probes: 3, jitter_percent: 20, ..QUICK },
        Policy { window: WindowSpan::Calls(40), consecutive_failures: 3, open_max_ms: 6_000, ..QUICK },
    ]
}

impl Step {
    fn request(&self, permit: Permit) -> Request {
        let operator = || operator("ann", "");
        match &self.kind {
            Kind::Acquire => Request::Acquire { caller: "A".into() },
            Kind::Report(outcome, took, retry_after) => {
                let report = Report {
                    took: Some(*took),
                    retry_after: *retry_after,
                    caller: "B".into(),
                    cause: "503".into(),
                    ..plain(*outcome)
                };
                Request::Report { permit, report }
            }
            Kind::Tally([successes, slow_successes, failures, slow_failures], retry_after) => {
                let tally = Tally {
                    successes: *successes,
                    slow_successes: *slow_successes,
                    failures: *failures,
                    slow_failures: *slow_failures,
                    retry_after: *retry_after,
                    ..EMPTY
                };
                Request::ReportTally { permit, tally }
            }
            Kind::Renew => Request::Renew { permit },
            Kind::Release => Request::Release { permit },
            Kind::Configure(policy) => {
                Request::Configure { policy: policy.map(|at| policies()[at].to_json()), operator: operator() }
            }
            Kind::Force(mode, lasting) => Request::Force { mode: *mode, lasting: *lasting, operator: operator() },
            Kind::Reset => Request::Reset { operator: operator() },
            Kind::Forget => Request::Forget { operator: operator() },
            Kind::Prune => Request::Prune { idle: 5_000, operator: NO_OPERATOR },
        }
    }

    fn mends(&self) -> bool {
        matches!(self.kind, Kind::Reset | Kind::Forget)
    }
}

/// Plays steps and judges each answer by the inspections around it.
fn played(steps: &[Step]) -> World {
    let mut world = World { now: 1_000_000, ..World::with(policies()[0]) };
    let mut permits: Vec<Permit> = Vec::new();
    let mut highest_token = 0;
    for step in steps {
        world.now = world.now.saturating_add_signed(step.wait);
        world.random = step.random;
        let before = world.clone().inspect();
        let (records, noted) = (world.records.clone(), world.transitions.len());
        let recent = permits.len().saturating_sub(1 + step.permit);
        let permit = permits.get(recent).copied().unwrap_or(Permit { epoch: 0, lease: None });
        let answer = world.ask(step.request(permit)).expect("an answer");
        let after = world.clone().inspect();
        match answer {
            Answer::Decision(Decision::Proceed(admission)) => {
                assert_eq!(after["state"], "closed");
                permits.push(admission.permit);
            }
            Answer::Decision(Decision::Probe(probe)) => {
                assert_eq!(before["probe_due"], true, "inspect says so before");
                let token = probe.permit.lease.expect("a probe has a lease");
                assert!(token > highest_token, "tokens only rise");
                highest_token = token;
                permits.push(probe.permit);
            }
            Answer::Decision(Decision::Defer(deferral)) => {
                assert_eq!(before["probe_due"], false);
                assert!(deferral.retry_after > 0);
                assert!(deferral.fresh_for <= 250);
            }
            Answer::Receipt(receipt) if receipt.verdict != Verdict::Applied => {
                assert_eq!(world.records, records, "a stale report changes nothing");
            }
            _ => {}
        }
        assert_chained(&before, &world.transitions[noted..], &after);
        let live = after["leases"].as_array().expect("a list").len();
        assert!(live <= 3, "no policy lets more probe at once");
        if world.records.get(NAME).is_none_or(|(_, data)| data.is_none()) {
            assert_eq!(after["state"], "closed");
        }
    }
    world
}

/// Each change of state is the next link of one chain, which ends in the state that inspect shows.
fn assert_chained(before: &Value, transitions: &[Value], after: &Value) {
    let mut last: Option<(Value, u64)> = None;
    for transition in transitions {
        let epoch = transition["epoch"].as_u64().expect("an epoch");
        if let Some((state, at)) = &last {
            assert_eq!(&transition["from"], state, "{transitions:?}");
            let same = transition["from"] == transition["to"] && epoch == *at;
            assert!(same || epoch == at + 1, "{transitions:?}");
        }
        last = Some((transition["to"].clone(), epoch));
    }
    match last {
        Some(_) if transitions.last().is_some_and(|transition| transition["reason"] == "forgotten") => {
            assert_eq!((&after["state"], &after["last_failure"]), (&"closed".into(), &Value::Null));
        }
        Some((state, epoch)) => assert_eq!((&after["state"], after["epoch"].as_u64()), (&state, Some(epoch))),
        None if after["epoch"] == before["epoch"] => assert_eq!(after["state"], before["state"]),
        // A record that was not there was removed: its successor has a new epoch.
        None => assert_eq!((&before["last_change"], &after["last_change"]), (&Value::Null, &Value::Null)),
    }
}
