//! The script of the demo: the dependency goes down, heals, and goes down again. Each next step depends on the situation,
//! not on the time alone, so that it is the same on a slow machine.

use std::time::{Duration, Instant};

use halfopen::{Inspection, State};

use super::dependency::{Health, LaneCounts};
use super::lane::Lane;

/// The number of outages.
pub const OUTAGES: usize = 2;

/// The time before and after an outage.
const CALM: Duration = Duration::from_millis(1_000);

/// The shortest outage.
const DOWN: Duration = Duration::from_millis(2_200);

/// The dependency heals only while the next probe is due later than this: no probe is under way that would still fail.
const CLEAR_MS: u64 = 400;

/// The present situation.
pub struct Situation<'a> {
    pub now: Instant,
    pub counts: &'a [LaneCounts; 3],
    pub breaker: &'a Inspection,
}

/// The present act.
#[derive(Clone, Copy, Debug)]
enum Act {
    Calm { since: Instant },
    Down { since: Instant },
    Recovering,
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    Wait,
    GoDown,
    Heal,
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

    /// Moves on to the next act where the situation allows it.
    pub fn next(&mut self, situation: &Situation<'_>) -> Next {
        let now = situation.now;
        match self.act {
            Act::Calm { since } if now < since + CALM => Next::Wait,
            Act::Calm { .. } if self.outages == OUTAGES => Next::End,
            Act::Calm { .. } => {
                self.outages += 1;
                self.act = Act::Down { since: now };
                Next::GoDown
            }
            Act::Down { since } if now >= since + DOWN && is_clear(situation) => {
                self.act = Act::Recovering;
                Next::Heal
            }
            Act::Recovering if is_well(situation) => {
                self.act = Act::Calm { since: now };
                Next::Wait
            }
            Act::Down { .. } | Act::Recovering => Next::Wait,
        }
    }
}

/// Whether no admitted call is under way.
fn is_clear(Situation { breaker, counts, .. }: &Situation<'_>) -> bool {
    breaker.state == State::Open
        && breaker.next_due.is_some_and(|due| due.saturating_sub(breaker.at) > CLEAR_MS)
        && counts[Lane::Shared as usize].in_flight == 0
}

fn is_well(Situation { breaker, counts, .. }: &Situation<'_>) -> bool {
    breaker.state == State::Closed && counts.iter().all(|lane| lane.health == Health::Up)
}

#[cfg(test)]
mod tests;
