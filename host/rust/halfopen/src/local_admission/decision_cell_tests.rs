use std::sync::Mutex;

use super::*;
use crate::clock::Glance;

#[test]
fn what_is_written_is_read() {
    let terms = Terms { epoch: u64::MAX - 1, percent: 37, slower_than: Some(0) };
    let refusal = Refusal { retry_after: 5, spread: u64::MAX, reason: Reason::Ramping };
    let all = [
        Says::Nothing,
        Says::Admit(Terms { percent: 100, slower_than: None, ..terms }),
        Says::Draw(terms, None),
        Says::Draw(terms, Some(refusal)),
        Says::Refuse(Refusal { reason: Reason::ForcedOpen, ..refusal }),
        Says::Refuse(Refusal { reason: Reason::Probing, ..refusal }),
        Says::Refuse(Refusal { reason: Reason::Open, ..refusal }),
    ];
    let board = Board::new();
    assert_eq!(board.read(), Some((Look::NONE, 0)));
    for (generation, says) in all.into_iter().enumerate() {
        let sent = Sent { now: u64::MAX, monotonic: Duration::from_nanos(u64::MAX) };
        let (look, generation) = (Look { says, sent, fresh_for: 250 }, u32::MAX - generation as u32);
        board.write(&look, generation);
        assert_eq!(board.read(), Some((look, generation)));
    }
}

/// A clock that is read where it is set, and whose glances lag behind.
#[derive(Debug)]
struct Hands {
    exact: Mutex<Glance>,
    lag: Duration,
    /// None for a clock that knows of no ticks.
    tick: Option<AtomicU64>,
}

impl Hands {
    fn new(lag: u64, ticks: bool) -> Self {
        let exact = Mutex::new(Glance { now: SENT, monotonic: Duration::from_millis(SENT) });
        Hands { exact, lag: Duration::from_millis(lag), tick: ticks.then(AtomicU64::default) }
    }

    fn set(&self, now: u64, monotonic: u64) {
        *self.exact.lock().unwrap() = Glance { now, monotonic: Duration::from_millis(monotonic) };
        if let Some(tick) = &self.tick {
            tick.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl Clock for Hands {
    fn now(&self) -> u64 {
        self.exact.lock().unwrap().now
    }

    fn monotonic(&self) -> Duration {
        self.exact.lock().unwrap().monotonic
    }

    fn glance(&self) -> Glance {
        let Glance { now, monotonic } = *self.exact.lock().unwrap();
        Glance { now: now - self.lag.as_millis() as u64, monotonic: monotonic.saturating_sub(self.lag) }
    }

    fn tick(&self) -> Option<u64> {
        self.tick.as_ref().map(|tick| tick.load(Ordering::SeqCst))
    }

    fn lag(&self) -> Duration {
        self.lag
    }
}

const SENT: u64 = 1_000_000;

fn look(says: Says, sent: u64) -> Look {
    Look { says, sent: Sent { now: sent, monotonic: Duration::from_millis(sent) }, fresh_for: 250 }
}

fn admit(slower_than: Option<u64>) -> Says {
    Says::Admit(Terms { epoch: 7, percent: 100, slower_than })
}

#[test]
fn the_short_way_says_what_the_long_way_says_or_nothing() {
    let refusal = Refusal { retry_after: 5_000, spread: 0, reason: Reason::Open };
    for (lag, ticks) in [(0, false), (8, false), (8, true)] {
        let clock = Hands::new(lag, ticks);
        for (says, plain) in [(admit(None), true), (Says::Refuse(refusal), true), (admit(Some(5)), false)] {
            let board = Board::new();
            let look = look(says, SENT);
            board.write(&look, 3);
            let mut answered = 0;
            for wall in SENT - 300..SENT + 300 {
                // The clocks as one, and each by itself near the look's ends.
                for monotonic in [wall, SENT - 1, SENT, SENT + 240, SENT + 249, SENT + 250] {
                    clock.set(wall, monotonic);
                    let long = look.age(&clock, clock.lag);
                    match (board.read_plain(&clock), &says) {
                        (Plain::Else, _) => continue,
                        (Plain::Admit { epoch: 7, generation: 3 }, Says::Admit(_)) => {
                            assert!(long.is_some(), "{clock:?}")
                        }
                        (Plain::Refuse { age }, Says::Refuse(_)) => {
                            let behind = long.and_then(|long| long.checked_sub(age)).expect("an age");
                            assert!(behind <= lag, "{clock:?}");
                        }
                        other => panic!("{other:?} at {clock:?}"),
                    }
                    answered += 1;
                }
            }
            assert_eq!(answered > 200, plain, "{says:?}: {answered}");
        }
    }
}

#[test]
fn that_a_look_holds_says_nothing_of_the_next_one() {
    let clock = Hands::new(8, true);
    let board = Board::new();
    for round in 0..3 {
        board.write(&look(admit(None), SENT), round);
        assert_eq!(board.still_admits(&clock), None);
        assert_eq!(board.read_plain(&clock), Plain::Admit { epoch: 7, generation: round });
        assert_eq!(board.still_admits(&clock), Some((7, round)));
        // Asked for long ago, and answered just now.
        board.write(&look(admit(None), SENT - 250), round);
        assert_eq!((board.still_admits(&clock), board.read_plain(&clock)), (None, Plain::Else));
    }
}

#[test]
fn that_a_look_holds_says_nothing_of_the_next_tick() {
    let clock = Hands::new(8, true);
    let board = Board::new();
    board.write(&look(admit(None), SENT), 3);
    for at in (SENT..SENT + 260).step_by(4) {
        clock.set(at, at);
        assert_eq!(board.still_admits(&clock), None);
        let plain = board.read_plain(&clock);
        assert_eq!(board.still_admits(&clock).is_some(), matches!(plain, Plain::Admit { .. }), "{clock:?}");
    }
}
