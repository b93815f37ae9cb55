use std::sync::Mutex;

use super::*;

#[test]
fn each_decision_is_read_as_it_was_written() {
    let share = Admission {
        permit: Permit { epoch: u64::MAX - 1, lease: None },
        fresh_for: 250,
        percent: 37,
        slower_than: Some(0),
    };
    let of = |reason| Refusal { retry_after: 5, spread: u64::MAX, reason };
    let all = [
        (None, None),
        (Some(Admission { percent: 100, slower_than: None, ..share }), None),
        (Some(share), None),
        (Some(share), Some(of(0))),
        (None, Some(of(1))),
        (None, Some(of(2))),
        (None, Some(of(3))),
    ];
    let cell = DecisionCell::new();
    assert_eq!(cell.read(), Some((CachedDecision::NONE, 0)));
    for (generation, (admission, refusal)) in all.into_iter().enumerate() {
        let request_time = Reading { now: u64::MAX, monotonic: Duration::from_nanos(u64::MAX) };
        let decision = CachedDecision { admission, refusal, request_time, fresh_for: 250 };
        let generation = u32::MAX - generation as u32;
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

fn admit(slower_than: Option<u64>, at: u64) -> CachedDecision {
    let permit = Permit { epoch: 7, lease: None };
    CachedDecision {
        admission: Some(Admission { permit, fresh_for: 250, percent: 100, slower_than }),
        refusal: None,
        request_time: Reading { now: at, monotonic: Duration::from_millis(at) },
        fresh_for: 250,
    }
}

#[test]
fn the_fast_path_agrees_with_the_slow_path_or_gives_nothing() {
    let refusal = Refusal { retry_after: 5_000, spread: 0, reason: 1 };
    let refuse = CachedDecision { admission: None, refusal: Some(refusal), ..admit(None, REQUESTED) };
    for (resolution, ticks) in [(0, false), (8, false), (8, true)] {
        let clock = SetClock::new(resolution, ticks);
        for (decision, is_plain) in
            [(admit(None, REQUESTED), true), (admit(Some(5), REQUESTED), false), (refuse, false)]
        {
            let cell = DecisionCell::new();
            cell.write(&decision, 3);
            let mut answered = 0;
            for wall in REQUESTED - 300..REQUESTED + 300 {
                // The clocks as one, and each by itself near the decision's ends.
                for monotonic in [wall, REQUESTED - 1, REQUESTED, REQUESTED + 240, REQUESTED + 249, REQUESTED + 250] {
                    clock.set(wall, monotonic);
                    let exact = decision.age_at(Reading::now(&clock), Duration::ZERO);
                    if let Some(coarse) = decision.coarse_age(&clock) {
                        let behind = exact.and_then(|exact| exact.checked_sub(coarse)).expect("an age");
                        assert!(behind <= resolution, "{clock:?}");
                    }
                    assert_eq!(decision.age(&clock).is_some(), exact.is_some(), "{clock:?}");
                    if let Some(admitted) = cell.admits(&clock) {
                        assert_eq!((admitted, exact.is_some()), ((7, 3), true), "{clock:?}");
                        answered += 1;
                    }
                }
            }
            assert_eq!(answered > 200, is_plain, "{decision:?}: {answered}");
        }
    }
}

#[test]
fn a_decision_that_holds_shows_nothing_of_the_next_one() {
    let clock = SetClock::new(8, true);
    let cell = DecisionCell::new();
    for round in 0..3 {
        cell.write(&admit(None, REQUESTED), round);
        assert_eq!(cell.still_admits(&clock), None);
        assert_eq!(cell.admits(&clock), Some((7, round)));
        assert_eq!(cell.still_admits(&clock), Some((7, round)));
        // Requested long ago, and answered just now.
        cell.write(&admit(None, REQUESTED - 250), round);
        assert_eq!((cell.still_admits(&clock), cell.admits(&clock)), (None, None));
    }
}

#[test]
fn a_decision_that_holds_shows_nothing_of_the_next_tick() {
    let clock = SetClock::new(8, true);
    let cell = DecisionCell::new();
    cell.write(&admit(None, REQUESTED), 3);
    for at in (REQUESTED..REQUESTED + 260).step_by(4) {
        clock.set(at, at);
        assert_eq!(cell.still_admits(&clock), None);
        let admits = cell.admits(&clock);
        assert_eq!(cell.still_admits(&clock), admits, "{clock:?}");
    }
}
