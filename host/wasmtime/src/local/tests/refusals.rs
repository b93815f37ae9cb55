//! Deferrals from memory, and the draw during a ramp.

use super::*;
use crate::wire::{DeferReason, Mode, Ramp};

#[test]
fn a_refusal_from_memory_says_what_is_left() {
    let machine = Machine::new(Policy { consecutive_failures: 1, open_ms: 300, ..plain() });
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
fn who_is_forced_open_is_told_the_same_length_each_time() {
    let machine = Machine::new(plain());
    let breaker = machine.process().breaker("a");
    breaker.force(Mode::Open, None, "").unwrap();
    for _ in 0..3 {
        assert_eq!(refused(&breaker).retry_after, 5_000);
        machine.advance(100);
    }
}

#[test]
fn during_a_ramp_it_draws_with_the_percentage_it_was_given() {
    let ramp = Some(Ramp { over_ms: 100_000, from_percent: 20 });
    let machine = Machine::new(Policy { consecutive_failures: 1, ramp, ..plain() });
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
    assert!(machine.store.since().0 < 60, "the calls were asked for");
}

#[test]
fn during_a_ramp_who_loses_the_draw_comes_back_when_the_look_ends_or_as_the_component_said() {
    let ramp = Some(Ramp { over_ms: 100_000, from_percent: 50 });
    let machine = Machine::new(Policy { consecutive_failures: 1, ramp, ..plain() });
    let host = machine.process();
    let breaker = host.breaker("a");
    fail(&breaker);
    machine.advance(5_000);
    let Decision::Probe(probe) = breaker.acquire().unwrap() else { panic!("no probe") };
    probe.success().unwrap();
    // Until both kinds of answers have come from the component.
    let (mut admitted, mut deferred) = (false, false);
    while !(admitted && deferred) {
        machine.store.since();
        let said = match breaker.acquire().unwrap() {
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
        assert_eq!(machine.store.since(), (0, 0), "the draw asks nobody");
        assert_eq!((loser.retry_after, loser.fresh_for), (said.unwrap_or(150), 150));
        assert_eq!(loser.reason, DeferReason::Ramping);
        machine.advance(150);
        *(if said.is_none() { &mut admitted } else { &mut deferred }) = true;
    }
}
