use std::time::Duration;

use halfopen_contract::time::ManualClock;
use halfopen_contract::types::{Admission, DeferReason, Permit, Probe};

use super::*;

const PERMIT: Permit = Permit { epoch: 1, lease: None };
const PROCEED: Decision =
    Decision::Proceed(Admission { permit: PERMIT, fresh_for: 0, percent: 100, slower_than: None });
const PROBE: Decision = Decision::Probe(Probe { permit: PERMIT, expires_in: 1, slower_than: None });

fn deferral(retry_after: u64, fresh_for: u64) -> Deferral {
    Deferral { retry_after, spread: 7, reason: DeferReason::Open, fresh_for, admission: None }
}

#[test]
fn a_deferral_lasts_for_what_is_left_of_it() {
    let (known, clock) = (LastKnown::default(), ManualClock::new(1_000));
    known.keep("a", &Decision::Defer(deferral(100, 50)), Reading::now(&clock));
    clock.advance(Duration::from_millis(60));
    assert_eq!(known.recall("a", &clock), Fallback::Defer(deferral(40, 0)));
    assert_eq!(known.recall("b", &clock), Fallback::Unknown);
    clock.advance(Duration::from_millis(40));
    assert_eq!(known.recall("a", &clock), Fallback::Unknown);
}

#[test]
fn an_admission_lasts_unless_it_was_a_probe() {
    let (known, clock) = (LastKnown::default(), ManualClock::new(1_000));
    known.keep("a", &PROCEED, Reading::now(&clock));
    clock.advance(Duration::from_secs(9));
    assert_eq!(known.recall("a", &clock), Fallback::Proceed);
    known.keep("a", &PROBE, Reading::now(&clock));
    assert_eq!(known.recall("a", &clock), Fallback::Unknown);
}
