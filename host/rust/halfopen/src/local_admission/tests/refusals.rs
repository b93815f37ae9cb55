//! Deferrals from memory, and the sample during a ramp.

use super::*;
use crate::{DeferReason, Mode};

#[test]
fn a_refusal_from_memory_has_the_rest_of_the_wait() {
    let machine = Machine::new(plain().consecutive_failures(1).open_ms(300));
    let breaker = machine.process().breaker("a");
    fail(&breaker);
    assert_eq!(refused(&breaker).retry_after, 300);
    machine.store.since();
    machine.advance(100);
    let left = refused(&breaker);
    assert_eq!((left.retry_after, left.fresh_for), (200, 150));
    assert_eq!(machine.store.since(), (0, 0));
    machine.advance(150);
    assert_eq!(refused(&breaker).fresh_for, 50, "no longer than the open window");
    machine.advance(50);
    assert!(matches!(breaker.acquire().unwrap(), Decision::Probe(_)));
}

#[test]
fn a_cached_refusal_ends_with_the_override() {
    let machine = Machine::new(plain());
    let breaker = machine.process().breaker("a");
    breaker.force(Mode::Open, Some(200 * MS), "").unwrap();
    assert_eq!(refused(&breaker).retry_after, 200);
    machine.advance(100);
    let left = refused(&breaker);
    assert_eq!((left.reason, left.retry_after, left.fresh_for), (DeferReason::ForcedOpen, 100, 100));
    machine.advance(100);
    assert!(!matches!(breaker.acquire().unwrap(), Decision::Defer(_)));
}

#[test]
fn during_a_ramp_it_samples_with_the_given_percentage() {
    let machine = Machine::new(plain().consecutive_failures(1).ramp(100_000, 20));
    let breaker = machine.process().breaker("a");
    fail(&breaker);
    machine.advance(5_000);
    let Decision::Probe(probe) = breaker.acquire().unwrap() else { panic!("no probe") };
    probe.success().unwrap();
    machine.store.since();
    let mut shares = Vec::new();
    for _ in 0..2 {
        let mut count = 0_u32;
        for _ in 0..10_000 {
            match breaker.acquire().unwrap() {
                Decision::Proceed(guard) => {
                    assert!((20..=60).contains(&guard.percent()));
                    count += 1;
                    drop(guard);
                }
                Decision::Defer(deferral) => assert_eq!(deferral.reason, DeferReason::Ramping),
                Decision::Probe(_) => panic!("a probe while closed"),
            }
        }
        shares.push(count / 100);
        machine.advance(50_000);
    }
    assert!((18..=22).contains(&shares[0]) && (57..=63).contains(&shares[1]), "{shares:?}");
    assert!(machine.store.since().0 < 60, "the calls went to the store");
}

#[test]
fn calls_outside_the_sample_wait_for_the_end_of_the_decision() {
    let machine = Machine::new(plain().consecutive_failures(1).ramp(100_000, 50));
    let host = machine.process();
    let breaker = host.breaker("a");
    fail(&breaker);
    machine.advance(5_000);
    let Decision::Probe(probe) = breaker.acquire().unwrap() else { panic!("no probe") };
    probe.success().unwrap();
    // Until the engine has given both kinds of answers.
    let (mut admitted, mut deferred) = (false, false);
    while !(admitted && deferred) {
        machine.store.since();
        let given = match breaker.acquire().unwrap() {
            Decision::Proceed(_) => None,
            Decision::Defer(deferral) => Some(deferral.retry_after),
            Decision::Probe(_) => panic!("a probe while closed"),
        };
        assert_eq!(machine.store.since(), (1, 0));
        machine.advance(100);
        let loser = (0..1_000).find_map(|_| match breaker.acquire().unwrap() {
            Decision::Defer(deferral) => Some(deferral),
            _ => None,
        });
        let loser = loser.expect("of a thousand draws one is lost");
        assert_eq!(machine.store.since(), (0, 0), "the sample is drawn in memory");
        assert_eq!((loser.retry_after, loser.fresh_for), (given.unwrap_or(150), 150));
        assert_eq!(loser.reason, DeferReason::Ramping);
        machine.advance(150);
        *(if given.is_none() { &mut admitted } else { &mut deferred }) = true;
    }
}
