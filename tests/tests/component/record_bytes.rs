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
        let mut permits = Vec::new();
        for deed in deeds.iter().filter(|deed| !matches!(deed.asked, Asked::Damage(_))) {
            match deed.asked {
                Asked::Clock(now) => native.now = now,
                _ => permits.extend(native.ask(deed, &permits).ok().and_then(Answered::permit)),
            }
        }
        native.record("a").1.unwrap_or_else(|| codec::encode(&Record::new(0, &BUILT_IN)))
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
        prop_assert_eq!(codec::encode(&record), bytes);
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
        native.damage("a", &odd);
        let mut permits = Vec::new();
        for deed in deeds {
            match deed.asked {
                Asked::Clock(now) => native.now = now,
                Asked::Damage(_) => {}
                asked => {
                    let deed = Deed { dependency: "a".to_owned(), asked };
                    permits.extend(native.ask(&deed, &permits).ok().and_then(Answered::permit));
                }
            }
        }
    }
}

/// Does things to one dependency under the default policy, years after 1970 and after many changes.
struct Worn {
    native: Native,
    permits: Vec<Permit>,
}

impl Worn {
    fn new() -> Worn {
        let mut native = Native::new(&Policy::default(), 1).unwrap();
        // A hundred million commits have been made.
        native.set_version("a", 100_000_000);
        native.now = 1_800_000_000_000;
        Worn { native, permits: Vec::new() }
    }

    fn asks(&mut self, asked: Asked) -> usize {
        let deed = Deed { dependency: "a".to_owned(), asked };
        let answer = self.native.ask(&deed, &self.permits).unwrap();
        self.permits.extend(answer.permit());
        self.native.record("a").1.map_or(0, |bytes| bytes.len())
    }

    fn acquires(&mut self) -> usize {
        self.asks(Asked::Acquire("c".repeat(64)))
    }

    fn reports(&mut self, outcome: Outcome) -> usize {
        let none = Permit { epoch: 0, lease: None };
        self.asks(Asked::Report(Which::Given(0, none), outcome, Some(20)))
    }
}

#[test]
fn a_record_under_the_default_policy_takes_250_bytes_at_most() {
    let mut worn = Worn::new();
    let mut longest = 0;
    // It trips, recovers and trips again, so that all there is to remember is remembered.
    for outcome in [Outcome::Failure, Outcome::Success] {
        longest = longest.max(worn.acquires());
        for _ in 0..5 {
            longest = longest.max(worn.reports(Outcome::Failure));
        }
        worn.native.now += 400_000;
        longest = longest.max(worn.acquires());
        longest = longest.max(worn.reports(outcome));
        worn.native.now += 400_000;
    }
    longest = longest.max(worn.acquires());
    longest = longest.max(worn.reports(Outcome::Success));
    // A busy service, forced closed with as long a note as there can be, so that no failure trips it.
    let lasting = Some(2_592_000_000);
    longest = longest.max(worn.asks(Asked::Force(Mode::Closed, lasting, "n".repeat(100))));
    longest = longest.max(worn.acquires());
    for _ in 0..30 {
        let tally = Tally { successes: 1_000_000, failures: 1_000_000, ..Tally::default() };
        let none = Permit { epoch: 0, lease: None };
        longest = longest.max(worn.asks(Asked::ReportTally(Which::Given(0, none), tally)));
        worn.native.now += 3_000;
    }
    let shown = worn.native.ask(&Deed { dependency: "a".to_owned(), asked: Asked::Inspect }, &[]).unwrap();
    let Answered::Inspection(shown) = shown else { panic!("{shown:?}") };
    assert_eq!(shown.calls, 18_000_000, "nine buckets are full, and the tenth has just begun");
    println!("the longest record takes {longest} bytes");
    assert!((200..=250).contains(&longest), "{longest} bytes");
}
