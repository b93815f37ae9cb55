//! The bytes of a record: small, and read back or refused, whatever has become of them.

use halfopen_contract::documents::{Inspection, Policy};
use halfopen_contract::engine::{Answer, Operation};
use halfopen_contract::types::{Mode, Operator, Outcome, Permit, Report, Tally};
use halfopen_guest::policy::BUILT_IN;
use halfopen_guest::record::Record;
use halfopen_guest::record::codec::{self, DecodeError};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::draw::{self, Deed};
use crate::world::World;
use crate::{config, native, policies, policy};

/// The bytes of a record that a trace led to.
fn written_bytes() -> impl Strategy<Value = Vec<u8>> {
    (policies::valid(), any::<u64>(), draw::trace(40)).prop_map(|(default, seed, trace)| {
        let engine = native(&policy(&default.to_string())).unwrap();
        let mut world = World::new(&engine, seed);
        for deed in trace.iter().filter(|deed| !matches!(deed, Deed::Damage(..))) {
            let _ = world.run(deed);
        }
        let new = Record { written: Some(0), ..Record::new(0, &BUILT_IN) };
        world.record("a").map_or_else(|| codec::encode(&new), <[u8]>::to_vec)
    })
}

/// Such bytes with some of them changed, under a checksum that holds.
fn changed_bytes() -> impl Strategy<Value = Vec<u8>> {
    (written_bytes(), vec((any::<Index>(), any::<u8>()), 1..4)).prop_map(|(bytes, changes)| {
        let mut odd = body(&bytes).to_vec();
        for (at, byte) in changes {
            let at = at.index(odd.len());
            odd[at] = byte;
        }
        sealed(odd)
    })
}

/// The bytes of a record, damaged or not; or none.
pub fn any_bytes() -> impl Strategy<Value = Option<Vec<u8>>> {
    prop_oneof![
        1 => Just(None),
        4 => written_bytes().prop_map(Some),
        4 => changed_bytes().prop_map(Some),
        1 => vec(any::<u8>(), 0..300).prop_map(Some),
        1 => vec(any::<u8>(), 0..300).prop_map(|bytes| Some(sealed([&[codec::WRITTEN][..], &bytes].concat()))),
    ]
}

fn sealed(mut body: Vec<u8>) -> Vec<u8> {
    let checksum = codec::checksum(&body);
    body.extend(checksum);
    body
}

fn body(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len() - codec::checksum(&[]).len()]
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn a_record_is_read_back_as_it_was_written(bytes in written_bytes()) {
        let record = codec::decode(&bytes).unwrap();
        prop_assert_eq!(codec::encode(&record), bytes);
    }

    #[test]
    fn a_record_with_any_byte_changed_is_corrupt(bytes in written_bytes(), at in any::<Index>(), by in 1_u8..) {
        let mut damaged = bytes.clone();
        damaged[at.index(bytes.len())] ^= by;
        prop_assert_eq!(codec::decode(&damaged), Err(DecodeError::Corrupt));
    }

    #[test]
    fn a_record_that_is_cut_or_longer_is_corrupt(
        bytes in written_bytes(),
        at in any::<Index>(),
        more in vec(any::<u8>(), 1..9),
    ) {
        prop_assert_eq!(codec::decode(&bytes[..at.index(bytes.len())]), Err(DecodeError::Corrupt));
        prop_assert_eq!(codec::decode(&[&bytes[..], &more].concat()), Err(DecodeError::Corrupt));
        prop_assert_eq!(codec::decode(&sealed([body(&bytes), &more].concat())), Err(DecodeError::Corrupt));
    }

    #[test]
    fn a_later_version_is_told_from_a_damaged_record(bytes in written_bytes(), version in codec::NEWEST_READ + 1..) {
        let mut later = body(&bytes).to_vec();
        later[0] = version;
        prop_assert_eq!(codec::decode(&sealed(later.clone())), Err(DecodeError::NewerVersion));
        later.extend([7; 30]);
        prop_assert_eq!(codec::decode(&sealed(later.clone())), Err(DecodeError::NewerVersion));
        later[0] = 0;
        prop_assert_eq!(codec::decode(&sealed(later)), Err(DecodeError::Corrupt), "no version has that number");
    }

    #[test]
    fn a_record_that_can_be_read_can_be_worked_with(bytes in changed_bytes(), trace in draw::trace(20)) {
        if codec::decode(&bytes).is_ok() {
            let engine = native(&Policy::new()).unwrap();
            let mut world = World::new(&engine, 1);
            world.run(&Deed::Damage("a".to_owned(), bytes));
            for deed in trace.iter().filter(|deed| !matches!(deed, Deed::Damage(..))) {
                let _ = world.run(deed);
            }
        }
    }
}

#[test]
fn a_record_under_the_default_policy_takes_at_most_1_kb() {
    let engine = native(&Policy::new()).unwrap();
    let mut world = World::new(&engine, 1);
    let mut longest = 0;
    // Years after 1970, and with texts as long as there can be.
    let text = || "n".repeat(128);
    let mut run = |deed: Deed| {
        let answer = world.run(&deed).map(|evaluation| evaluation.unwrap().answer);
        longest = longest.max(world.record("a").map_or(0, <[u8]>::len));
        answer
    };
    let operation = |operation| Deed::Operation { dependency: "a".to_owned(), operation, given: Some(0) };
    let permit = Permit { epoch: 0, lease: None };
    let acquire = || operation(Operation::Acquire { caller: text().into() });
    let report =
        |outcome| operation(Operation::Report { permit, report: Report::new(outcome).caller(text()).cause(text()) });
    run(Deed::Clock(1_800_000_000_000));
    // It trips, probes fail, it recovers and trips again, so that all there is to keep is kept.
    for outcome in [Outcome::Failure, Outcome::Success] {
        run(acquire());
        (0..5).for_each(|_| drop(run(report(Outcome::Failure))));
        run(Deed::Later(400_000));
        run(acquire());
        run(report(outcome));
        run(Deed::Later(400_000));
        run(acquire());
        run(report(Outcome::Success));
    }
    // A busy service, forced closed, so that no failure trips it.
    let operator = Operator { by: text(), note: text() };
    run(operation(Operation::Force { mode: Mode::Closed, lasting: Some(2_592_000_000), operator }));
    run(acquire());
    for _ in 0..30 {
        let tally = Tally { successes: 1_000_000, failures: 1_000_000, ..Tally::default() };
        run(operation(Operation::ReportTally { permit, tally }));
        run(Deed::Later(3_000));
    }
    let Some(Answer::Inspection(json)) = run(operation(Operation::Inspect)) else { panic!("inspect answers") };
    let shown: Inspection = json.parse().unwrap();
    assert_eq!(shown.calls, 18_000_000, "nine buckets are full, and the tenth has just begun");
    println!("the longest record takes {longest} bytes");
    assert!((300..=1_024).contains(&longest), "{longest} bytes");
}
