//! The script of the demo: the dependency goes down, heals, and goes down again. Each next step depends on the situation,
//! not on the time alone, so that it is the same on a slow machine.

use std::time::{Duration, Instant};

use halfopen::{Inspection, State};

use super::dependency::{Health, LaneCounts, Order, Reached};
use super::lane::{Lane, PerLane};

/// The number of outages.
pub const OUTAGES: usize = 2;

/// The number of acts: calm, down and recovering for each outage, and calm at the end.
pub const ACTS: u64 = 3 * OUTAGES as u64 + 1;

/// The time before and after an outage.
const CALM: Duration = Duration::from_millis(1_000);

/// The shortest outage.
const DOWN: Duration = Duration::from_millis(2_200);

/// The dependency heals only while the next probe is due later than this: no probe is under way that would still fail.
const CLEAR: Duration = Duration::from_millis(400);

/// The calls that reached the dependency at one recovery.
pub type Recovery = PerLane<Reached>;

/// The present situation.
pub struct Situation<'a> {
    pub now: Instant,
    /// The breaker's clock, in ms since the Unix epoch.
    pub clock: u64,
    pub counts: &'a PerLane<LaneCounts>,
    pub breaker: &'a Inspection,
}

/// The live picture.
#[derive(Debug, Default)]
pub struct Picture {
    pub dependency: &'static str,
    /// The number of acts that are over.
    pub acts: u64,
    pub reached: PerLane<u64>,
    pub notes: PerLane<String>,
}

/// The present act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Act {
    Calm { since: Instant },
    Down { since: Instant },
    Recovering,
    Over,
}

/// The next step.
#[derive(Clone, Copy, Debug)]
pub enum Next {
    Order(Order),
    Nothing,
    End,
}

/// The script.
#[derive(Debug)]
pub struct Script {
    act: Act,
    outages: usize,
}

impl Script {
    pub fn new(now: Instant) -> Self {
        Script { act: Act::Calm { since: now }, outages: 0 }
    }

    /// The number of acts that are over.
    pub fn acts(&self) -> u64 {
        let outages = self.outages as u64;
        match self.act {
            Act::Calm { .. } => 3 * outages,
            Act::Down { .. } => 3 * outages - 2,
            Act::Recovering => 3 * outages - 1,
            Act::Over => ACTS,
        }
    }

    /// Moves on to the next act where the situation allows it.
    pub fn next(&mut self, situation: &Situation<'_>) -> Next {
        let now = situation.now;
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
            Act::Down { since } if now >= since + DOWN && is_clear(situation) => {
                self.act = Act::Recovering;
                Next::Order(Order::Heal)
            }
            Act::Recovering if is_well(situation) => {
                self.act = Act::Calm { since: now };
                Next::Nothing
            }
            Act::Down { .. } | Act::Recovering => Next::Nothing,
            Act::Over => Next::End,
        }
    }
}

/// Whether no admitted call is under way.
fn is_clear(situation: &Situation<'_>) -> bool {
    let due_in = situation.breaker.next_due.map(|due| due.saturating_sub(situation.clock));
    situation.breaker.state == State::Open
        && due_in.is_some_and(|ms| Duration::from_millis(ms) > CLEAR)
        && situation.counts.get(Lane::Shared).in_flight == 0
}

fn is_well(situation: &Situation<'_>) -> bool {
    situation.breaker.state == State::Closed
        && Lane::ALL.iter().all(|lane| situation.counts.get(*lane).health == Health::Up)
}

/// The live picture of a situation.
pub fn picture(script: &Script, situation: &Situation<'_>, deferred: u64) -> Picture {
    let mut picture = Picture { dependency: health(situation.counts), acts: script.acts(), ..Picture::default() };
    for lane in Lane::ALL {
        *picture.reached.get_mut(lane) = situation.counts.get(lane).reached.total();
    }
    let state = match (situation.breaker.state, situation.breaker.leases.first()) {
        (State::HalfOpen, Some(lease)) => format!("half-open: {} probes, all others are deferred", lease.caller),
        (State::Open, _) => {
            let due = situation.breaker.next_due.unwrap_or(0).saturating_sub(situation.clock);
            format!("open: next probe in {}", crate::shell::text::duration(Duration::from_millis(due)))
        }
        (state, _) => state.to_string(),
    };
    *picture.notes.get_mut(Lane::Shared) = format!("{state} ({deferred} deferred)");
    picture
}

fn health(counts: &PerLane<LaneCounts>) -> &'static str {
    let healths = Lane::ALL.map(|lane| counts.get(lane).health);
    if healths.contains(&Health::Down) {
        "down"
    } else if healths.iter().all(|health| *health == Health::Up) {
        "well"
    } else {
        "well again; its first answer takes a while"
    }
}

/// The calls that reached the dependency at each recovery.
pub fn recoveries(counts: &PerLane<LaneCounts>) -> Vec<Recovery> {
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
mod tests;
