//! The course of the demo: the dependency goes down, heals, and goes down again. What comes next depends on how things
//! stand, not on the time alone, so that a slow machine sees the same play.

use std::time::{Duration, Instant};

use halfopen::{Inspection, State};

use super::dependency::{Counts, Health, Order, Reached};
use super::lane::{Lane, PerLane};

/// How often the dependency goes down.
pub const OUTAGES: usize = 2;

/// How many acts it has: calm, down, recovering, as often as it goes down, and calm again.
pub const ACTS: u64 = 3 * OUTAGES as u64 + 1;

/// How long all is well before and after an outage.
const CALM: Duration = Duration::from_millis(1_000);

/// How long the dependency stays down at least.
const DOWN: Duration = Duration::from_millis(2_200);

/// It heals when the next probe is not due for so long: no probe is on its way that would still be failed.
const CLEAR: Duration = Duration::from_millis(400);

/// What reached the dependency at one recovery.
pub type Recovery = PerLane<Reached>;

/// How things stand.
pub struct Standing<'a> {
    pub now: Instant,
    /// The breaker's clock, in ms since the Unix epoch.
    pub clock: u64,
    pub counts: &'a PerLane<Counts>,
    pub breaker: &'a Inspection,
}

/// What there is to see.
#[derive(Debug, Default)]
pub struct Picture {
    pub dependency: &'static str,
    /// How many acts are over.
    pub acts: u64,
    pub reached: PerLane<u64>,
    pub notes: PerLane<String>,
}

/// Where in its course the demo is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Calm { since: Instant },
    Down { since: Instant },
    Recovering,
    Over,
}

/// What is to be done next.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    Order(Order),
    Nothing,
    End,
}

/// The course.
#[derive(Debug)]
pub struct Course {
    act: Act,
    outages: usize,
}

impl Course {
    pub fn new(now: Instant) -> Self {
        Course { act: Act::Calm { since: now }, outages: 0 }
    }

    /// How many acts are over.
    pub fn acts(&self) -> u64 {
        let outages = self.outages as u64;
        match self.act {
            Act::Calm { .. } => 3 * outages,
            Act::Down { .. } => 3 * outages - 2,
            Act::Recovering => 3 * outages - 1,
            Act::Over => ACTS,
        }
    }

    /// Moves on if things stand so.
    pub fn next(&mut self, standing: &Standing<'_>) -> Next {
        let now = standing.now;
        match self.act {
            Act::Calm { since } if now < since + CALM => Next::Nothing,
            Act::Calm { .. } if self.outages == OUTAGES => {
                self.act = Act::Over;
                Next::End
            }
            Act::Calm { .. } => {
                self.outages += 1;
                self.act = Act::Down { since: now };
                Next::Order(Order::Down)
            }
            Act::Down { since } if now >= since + DOWN && is_clear(standing) => {
                self.act = Act::Recovering;
                Next::Order(Order::Heal)
            }
            Act::Recovering if is_well(standing) => {
                self.act = Act::Calm { since: now };
                Next::Nothing
            }
            Act::Down { .. } | Act::Recovering => Next::Nothing,
            Act::Over => Next::End,
        }
    }
}

/// Whether nothing that was let through before is still on its way.
fn is_clear(standing: &Standing<'_>) -> bool {
    let due_in = standing.breaker.next_due.map(|due| due.saturating_sub(standing.clock));
    standing.breaker.state == State::Open
        && due_in.is_some_and(|ms| Duration::from_millis(ms) > CLEAR)
        && standing.counts.get(Lane::Shared).in_flight == 0
}

fn is_well(standing: &Standing<'_>) -> bool {
    standing.breaker.state == State::Closed
        && Lane::ALL.iter().all(|lane| standing.counts.get(*lane).health == Health::Up)
}

/// How the picture looks.
pub fn picture(course: &Course, standing: &Standing<'_>, deferred: u64) -> Picture {
    let mut picture = Picture { dependency: health(standing.counts), acts: course.acts(), ..Picture::default() };
    for lane in Lane::ALL {
        *picture.reached.get_mut(lane) = standing.counts.get(lane).reached.total();
    }
    let state = match (standing.breaker.state, standing.breaker.leases.first()) {
        (State::HalfOpen, Some(lease)) => format!("half-open: {} probes, all others keep away", lease.caller),
        (State::Open, _) => {
            let due = standing.breaker.next_due.unwrap_or(0).saturating_sub(standing.clock);
            format!("open: next probe in {}", crate::text::duration(Duration::from_millis(due)))
        }
        (state, _) => state.to_string(),
    };
    *picture.notes.get_mut(Lane::Shared) = format!("{state} ({deferred} told to come back)");
    picture
}

fn health(counts: &PerLane<Counts>) -> &'static str {
    let healths = Lane::ALL.map(|lane| counts.get(lane).health);
    if healths.contains(&Health::Down) {
        "down"
    } else if healths.iter().all(|health| *health == Health::Up) {
        "well"
    } else {
        "well again; its first answer takes a while"
    }
}

/// What reached the dependency at each recovery.
pub fn recoveries(counts: &PerLane<Counts>) -> Vec<Recovery> {
    (0..OUTAGES)
        .map(|number| {
            let mut recovery = Recovery::default();
            for lane in Lane::ALL {
                *recovery.get_mut(lane) = counts.get(lane).recoveries.get(number).copied().unwrap_or_default();
            }
            recovery
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(health: Health, in_flight: u64) -> PerLane<Counts> {
        let one = Counts {
            health,
            in_flight,
            reached: Reached::default(),
            while_down: Reached::default(),
            recoveries: vec![Reached { calls: 0, probes: 1 }],
        };
        PerLane::each(one)
    }

    fn inspection(state: State, next_due: Option<u64>) -> Inspection {
        Inspection {
            state,
            forced: None,
            probe_due: false,
            leases: Vec::new(),
            successes: 0,
            level: 0,
            calls: 0,
            failures: 0,
            slow: 0,
            failures_in_row: 0,
            epoch: 0,
            since: None,
            next_due,
        }
    }

    #[test]
    fn the_acts_are_counted() {
        let now = Instant::now();
        let of = |act, outages| Course { act, outages }.acts();
        let acts = [
            of(Act::Calm { since: now }, 0),
            of(Act::Down { since: now }, 1),
            of(Act::Recovering, 1),
            of(Act::Calm { since: now }, 1),
            of(Act::Over, OUTAGES),
        ];
        assert_eq!(acts, [0, 1, 2, 3, ACTS]);
    }

    #[test]
    fn the_dependency_heals_only_while_nothing_is_on_its_way() {
        let start = Instant::now();
        let late = start + CALM + DOWN + Duration::from_secs(5);
        let mut course = Course::new(start);
        let up = counts(Health::Up, 0);
        let closed = inspection(State::Closed, None);
        let at = |now, counts, breaker| Standing { now, clock: 1_000, counts, breaker };
        assert!(matches!(course.next(&at(start, &up, &closed)), Next::Nothing));
        assert!(matches!(course.next(&at(start + CALM, &up, &closed)), Next::Order(Order::Down)));
        let (idle, busy) = (counts(Health::Down, 0), counts(Health::Down, 1));
        let far = inspection(State::Open, Some(2_000));
        let near = inspection(State::Open, Some(1_100));
        assert!(matches!(course.next(&at(start + CALM, &idle, &far)), Next::Nothing), "too early");
        assert!(matches!(course.next(&at(late, &idle, &near)), Next::Nothing), "a probe is about to come");
        assert!(matches!(course.next(&at(late, &busy, &far)), Next::Nothing), "a call is on its way");
        assert!(matches!(course.next(&at(late, &idle, &closed)), Next::Nothing), "not tripped yet");
        assert!(matches!(course.next(&at(late, &idle, &far)), Next::Order(Order::Heal)));
        assert!(matches!(course.next(&at(late, &up, &far)), Next::Nothing), "not recovered yet");
        assert!(matches!(course.next(&at(late, &up, &closed)), Next::Nothing));
        assert!(matches!(course.next(&at(late + CALM, &up, &closed)), Next::Order(Order::Down)));
    }
}
