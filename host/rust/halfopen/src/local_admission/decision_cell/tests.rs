use std::sync::Mutex;

use super::*;

#[test]
fn each_decision_is_read_as_it_was_written() {
    let terms = AdmissionTerms { epoch: u64::MAX - 1, percent: 37, slower_than: Some(0) };
    let refusal = Refusal { retry_after: 5, spread: u64::MAX, reason: RefusalReason::Ramping };
    let all = [
        FurtherCalls::Acquire,
        FurtherCalls::Admit(AdmissionTerms { percent: 100, slower_than: None, ..terms }),
        FurtherCalls::Sample(terms, None),
        FurtherCalls::Sample(terms, Some(refusal)),
        FurtherCalls::Refuse(Refusal { reason: RefusalReason::ForcedOpen, ..refusal }),
        FurtherCalls::Refuse(Refusal { reason: RefusalReason::Probing, ..refusal }),
        FurtherCalls::Refuse(Refusal { reason: RefusalReason::Open, ..refusal }),
    ];
    let cell = DecisionCell::new();
    assert_eq!(cell.read(), Some((CachedDecision::NONE, 0)));
    for (generation, further) in all.into_iter().enumerate() {
        let request_time = Reading { now: u64::MAX, monotonic: Duration::from_nanos(u64::MAX) };
        let (decision, generation) =
            (CachedDecision { further, request_time, fresh_for: 250 }, u32::MAX - generation as u32);
        cell.write(&decision, generation);
        assert_eq!(cell.read(), Some((decision, generation)));
    }
}

/// A clock that shows the time that it was set to, and whose coarse readings lag behind.
#[derive(Debug)]
struct SetClock {
    exact: Mutex<Reading>,
    resolution: Duration,
    /// None for a clock that knows of no ticks.
    tick: Option<AtomicU64>,
}

impl SetClock {
    fn new(resolution: u64, ticks: bool) -> Self {
        let exact = Mutex::new(Reading { now: REQUESTED, monotonic: Duration::from_millis(REQUESTED) });
        SetClock { exact, resolution: Duration::from_millis(resolution), tick: ticks.then(AtomicU64::default) }
    }

    fn set(&self, now: u64, monotonic: u64) {
        *self.exact.lock().unwrap() = Reading { now, monotonic: Duration::from_millis(monotonic) };
        if let Some(tick) = &self.tick {
            tick.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Clock for SetClock {
    fn now(&self) -> u64 {
        self.exact.lock().unwrap().now
    }

    fn monotonic(&self) -> Duration {
        self.exact.lock().unwrap().monotonic
    }

    fn coarse(&self) -> Reading {
        let Reading { now, monotonic } = *self.exact.lock().unwrap();
        Reading { now: now - self.resolution.as_millis() as u64, monotonic: monotonic.saturating_sub(self.resolution) }
    }

    fn tick(&self) -> Option<u64> {
        self.tick.as_ref().map(|tick| tick.load(Ordering::SeqCst))
    }

    fn resolution(&self) -> Duration {
        self.resolution
    }
}

const REQUESTED: u64 = 1_000_000;

fn decision(further: FurtherCalls, at: u64) -> CachedDecision {
    let request_time = Reading { now: at, monotonic: Duration::from_millis(at) };
    CachedDecision { further, request_time, fresh_for: 250 }
}

fn admit(slower_than: Option<u64>) -> FurtherCalls {
    FurtherCalls::Admit(AdmissionTerms { epoch: 7, percent: 100, slower_than })
}

#[test]
fn the_fast_path_agrees_with_the_slow_path_or_gives_nothing() {
    let refusal = Refusal { retry_after: 5_000, spread: 0, reason: RefusalReason::Open };
    for (resolution, ticks) in [(0, false), (8, false), (8, true)] {
        let clock = SetClock::new(resolution, ticks);
        for (further, is_plain) in [(admit(None), true), (FurtherCalls::Refuse(refusal), true), (admit(Some(5)), false)]
        {
            let cell = DecisionCell::new();
            let decision = decision(further, REQUESTED);
            cell.write(&decision, 3);
            let mut answered = 0;
            for wall in REQUESTED - 300..REQUESTED + 300 {
                // The clocks as one, and each by itself near the decision's ends.
                for monotonic in [wall, REQUESTED - 1, REQUESTED, REQUESTED + 240, REQUESTED + 249, REQUESTED + 250] {
                    clock.set(wall, monotonic);
                    let slow = decision.age(&clock, clock.resolution);
                    match (cell.read_fast(&clock), &further) {
                        (FastPath::None, _) => continue,
                        (FastPath::Admit { epoch: 7, generation: 3 }, FurtherCalls::Admit(_)) => {
                            assert!(slow.is_some(), "{clock:?}")
                        }
                        (FastPath::Refuse { age }, FurtherCalls::Refuse(_)) => {
                            let behind = slow.and_then(|slow| slow.checked_sub(age)).expect("an age");
                            assert!(behind <= resolution, "{clock:?}");
                        }
                        other => panic!("{other:?} at {clock:?}"),
                    }
                    answered += 1;
                }
            }
            assert_eq!(answered > 200, is_plain, "{further:?}: {answered}");
        }
    }
}

#[test]
fn a_decision_that_holds_shows_nothing_of_the_next_one() {
    let clock = SetClock::new(8, true);
    let cell = DecisionCell::new();
    for round in 0..3 {
        cell.write(&decision(admit(None), REQUESTED), round);
        assert_eq!(cell.still_admits(&clock), None);
        assert_eq!(cell.read_fast(&clock), FastPath::Admit { epoch: 7, generation: round });
        assert_eq!(cell.still_admits(&clock), Some((7, round)));
        // Requested long ago, and answered just now.
        cell.write(&decision(admit(None), REQUESTED - 250), round);
        assert_eq!((cell.still_admits(&clock), cell.read_fast(&clock)), (None, FastPath::None));
    }
}

#[test]
fn a_decision_that_holds_shows_nothing_of_the_next_tick() {
    let clock = SetClock::new(8, true);
    let cell = DecisionCell::new();
    cell.write(&decision(admit(None), REQUESTED), 3);
    for at in (REQUESTED..REQUESTED + 260).step_by(4) {
        clock.set(at, at);
        assert_eq!(cell.still_admits(&clock), None);
        let plain = cell.read_fast(&clock);
        assert_eq!(cell.still_admits(&clock).is_some(), matches!(plain, FastPath::Admit { .. }), "{clock:?}");
    }
}
