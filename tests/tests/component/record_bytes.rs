//! The bytes of a record: small, and never a surprise, whatever has become of them.

use proptest::collection::vec;
use proptest::prelude::*;

use halfopen_guest::codec::{self, DecodeError};
use halfopen_guest::policy::BUILT_IN;
use halfopen_guest::record::Record;

use crate::agreement::asked::{self, Answered, Asked, Deed, Which};
use crate::agreement::native::Native;
use halfopen::{Mode, Outcome, Permit, Policy, Tally};

/// A record's bytes that some deeds led to.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    (asked::policy(), any::<u64>(), asked::deeds(40)).prop_map(|(default, seed, deeds)| {
        let mut native = Native::new(&default, seed).unwrap();
        for deed in deeds.iter().filter(|deed| !matches!(deed.asked, Asked::Damage(_))) {
            native.does(deed);
        }
        native.record("a").1.unwrap_or_else(|| codec::encode(Record::new(0, &BUILT_IN)))
    })
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
    #![proptest_config(super::agreement::config(500))]

    #[test]
    fn a_record_is_read_back_as_it_was_written(bytes in bytes()) {
        let record = codec::decode(&bytes).unwrap();
        prop_assert_eq!(codec::encode(record), bytes);
    }

    #[test]
    fn a_record_with_any_byte_changed_is_corrupt(bytes in bytes(), at in any::<prop::sample::Index>(), by in 1_u8..) {
        let mut damaged = bytes.clone();
        damaged[at.index(bytes.len())] ^= by;
        prop_assert_eq!(codec::decode(&damaged), Err(DecodeError::Corrupt));
    }

    #[test]
    fn a_record_that_is_cut_off_or_goes_on_is_corrupt(
        bytes in bytes(),
        at in any::<prop::sample::Index>(),
        more in vec(any::<u8>(), 1..9),
    ) {
        prop_assert_eq!(codec::decode(&bytes[..at.index(bytes.len())]), Err(DecodeError::Corrupt));
        let longer = [&bytes[..], &more].concat();
        prop_assert_eq!(codec::decode(&longer), Err(DecodeError::Corrupt));
        let sealed_longer = sealed([body(&bytes), &more].concat());
        prop_assert_eq!(codec::decode(&sealed_longer), Err(DecodeError::Corrupt));
    }

    #[test]
    fn a_record_of_a_later_form_is_told_from_a_damaged_one(bytes in bytes(), version in 2_u8..) {
        let mut later = body(&bytes).to_vec();
        later[0] = version;
        prop_assert_eq!(codec::decode(&sealed(later.clone())), Err(DecodeError::NewerVersion));
        later.extend([7; 30]);
        prop_assert_eq!(codec::decode(&sealed(later.clone())), Err(DecodeError::NewerVersion), "whatever it holds");
        later[0] = 0;
        prop_assert_eq!(codec::decode(&sealed(later)), Err(DecodeError::Corrupt), "no form has that number");
    }

    #[test]
    fn bytes_of_any_kind_are_read_without_a_panic(bytes in vec(any::<u8>(), 0..300)) {
        // A checksum that holds by chance is no concern of this test.
        let _ = codec::decode(&bytes);
        let _ = codec::decode(&sealed(bytes.clone()));
        let _ = codec::decode(&sealed([&[1][..], &bytes].concat()));
    }

    #[test]
    fn whatever_can_be_read_can_be_worked_with(
        bytes in bytes(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        deeds in asked::deeds(20),
    ) {
        let mut odd = body(&bytes).to_vec();
        for (at, byte) in changes {
            let at = at.index(odd.len());
            // The form's own version aside.
            odd[at.max(1)] = byte;
        }
        let odd = sealed(odd);
        if codec::decode(&odd).is_err() {
            return Ok(());
        }
        let mut native = Native::new(&Policy::default(), 1).unwrap();
        let deeds = deeds.into_iter().map(|deed| deed.asked).filter(|asked| !matches!(asked, Asked::Damage(_)));
        for asked in std::iter::once(Asked::Damage(odd)).chain(deeds) {
            native.does(&Deed { dependency: "a".to_owned(), asked });
        }
    }
}

/// A dependency under the default policy, years after 1970 and after many changes.
struct Worn {
    native: Native,
    longest: usize,
}

impl Worn {
    fn new() -> Worn {
        let mut native = Native::new(&Policy::default(), 1).unwrap();
        // A hundred million commits have been made.
        native.set_version("a", 100_000_000);
        let mut worn = Worn { native, longest: 0 };
        worn.does(Asked::Clock(1_800_000_000_000));
        worn
    }

    fn does(&mut self, asked: Asked) {
        let deed = Deed { dependency: "a".to_owned(), asked };
        assert!(self.native.does(&deed).is_none_or(|answer| answer.is_ok()), "{deed:?}");
        self.longest = self.longest.max(self.native.record("a").1.map_or(0, |bytes| bytes.len()));
    }

    fn acquires(&mut self) {
        self.does(Asked::Acquire("c".repeat(64)));
    }

    fn reports(&mut self, outcome: Outcome) {
        self.does(Asked::Report(LAST, outcome, Some(20)));
    }
}

const LAST: Which = Which::Given(0, Permit { epoch: 0, lease: None });

#[test]
fn a_record_under_the_default_policy_takes_250_bytes_at_most() {
    let mut worn = Worn::new();
    // It trips, probes fail, it recovers and trips again, so that all there is to remember is remembered.
    for end in [Outcome::Failure, Outcome::Success] {
        worn.acquires();
        (0..5).for_each(|_| worn.reports(Outcome::Failure));
        worn.does(Asked::Later(400_000));
        worn.acquires();
        worn.reports(end);
        worn.does(Asked::Later(400_000));
        worn.acquires();
        worn.reports(Outcome::Success);
    }
    // A busy service, forced closed with as long a note as there can be, so that no failure trips it.
    worn.does(Asked::Force(Mode::Closed, Some(2_592_000_000), "n".repeat(100)));
    worn.acquires();
    for _ in 0..30 {
        worn.does(Asked::ReportTally(LAST, Tally { successes: 1_000_000, failures: 1_000_000, ..Tally::default() }));
        worn.does(Asked::Later(3_000));
    }
    let inspect = Deed { dependency: "a".to_owned(), asked: Asked::Inspect };
    let Some(Ok(Answered::Inspection(shown))) = worn.native.does(&inspect) else { panic!("inspect answers") };
    assert_eq!(shown.calls, 18_000_000, "nine buckets are full, and the tenth has just begun");
    println!("the longest record takes {} bytes", worn.longest);
    assert!((200..=250).contains(&worn.longest), "{} bytes", worn.longest);
}
