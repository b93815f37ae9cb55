//! Local admission: while the component's last answer holds, calls are admitted and refused from memory.
//!
//! This layer holds no rule of the state machine. It keeps what the component said ([`Look`]) for as long as the component
//! said, on a [`Board`] that is read without a lock, and counts successes in [`Cells`] until they are handed over. One
//! [`Local`] serves all handles of a dependency in one host.
//!
//! - A look never replaces one of a later version of the record, nor one that was begun before something ended it.
//! - Successes are counted for one epoch at a time. What was admitted in an older one is reported to the component, which
//!   finds it stale.

mod ask;
mod atomic;
mod board;
mod cells;
mod draw;
mod hand_over;
mod look;
mod place;
mod plain;
mod registry;
mod report;
mod sequence;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use event_listener::{Event, EventListener};

use crate::clock::Clock;
use crate::op::Answer;
use crate::sent::Sent;
use crate::wire::{Decision, Permit, State, Tally, Verdict};

pub(crate) use ask::{FromMemory, Remembered};
use atomic::AtomicU64;
use board::Board;
use cells::{Cells, Counted};
use draw::Draw;
use hand_over::HandOver;
use look::Look;
use place::{place, stripes};
pub(crate) use plain::Plain;
pub(crate) use registry::MANY;
use registry::Registry;
pub(crate) use report::Admitted;

/// What a host needs for it.
pub(crate) struct LocalAdmission {
    registry: Registry,
    draw: Draw,
    hand_over: HandOver,
    /// How far a glance at the clock may lag behind.
    lag: Duration,
    /// Whether time passes by itself; where it does not, nothing waits for it.
    runs: bool,
}

/// What this process knows of one dependency.
pub(crate) struct Local {
    board: Board,
    /// The number of the timer that will hand over what is counted; 0 where there is none.
    timer: AtomicU64,
    cells: OnceLock<Cells>,
    gate: Mutex<Gate>,
    asked: Event,
    pub dependency: Arc<str>,
}

struct Gate {
    /// How many are asking now.
    asking: u32,
    /// Whether an answer is likely to serve others too; where it is not, nobody waits for another's.
    shares: bool,
    /// How often a look was ended before its time.
    ended: u64,
    /// The version of the record that the look on the board rests on.
    version: u64,
    generation: u32,
    /// The epoch that the present generation counts for.
    counting: Option<u64>,
}

/// Successes that are due at the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Due {
    pub epoch: u64,
    pub counted: Counted,
}

/// The right to ask. Dropped, it lets those go on who wait for the answer.
pub(crate) struct Ticket {
    local: Arc<Local>,
    ended: u64,
}

/// What one who finds no look is to do.
pub(crate) enum Entry {
    Ask(Ticket),
    /// Somebody is asking: wait, and look again.
    Wait(EventListener),
}

impl LocalAdmission {
    /// Knows of `many` dependencies at least; from then on it lets go of those that are not in use.
    pub fn new(clock: &dyn Clock, seed: Option<u64>, many: usize) -> Self {
        LocalAdmission {
            registry: Registry::new(many),
            draw: Draw::new(seed),
            hand_over: HandOver::default(),
            lag: clock.lag(),
            runs: clock.runs(),
        }
    }

    /// What is known of a dependency.
    pub fn of(&self, dependency: &str) -> Arc<Local> {
        self.registry.of(dependency)
    }

    /// Ends all looks; what was counted under them is dropped.
    pub fn end_all(&self) {
        for local in self.registry.all() {
            local.end();
        }
    }
}

impl Local {
    fn new(dependency: Arc<str>) -> Self {
        Local {
            board: Board::new(),
            timer: AtomicU64::new(0),
            cells: OnceLock::new(),
            gate: Mutex::new(Gate { asking: 0, shares: true, ended: 0, version: 0, generation: 0, counting: None }),
            asked: Event::new(),
            dependency,
        }
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One at a time asks, where the answer serves the others.
    pub fn enter(self: &Arc<Self>) -> Entry {
        let mut gate = self.gate();
        if gate.asking > 0 && gate.shares {
            return Entry::Wait(self.asked.listen());
        }
        gate.asking += 1;
        Entry::Ask(Ticket { local: self.clone(), ended: gate.ended })
    }

    /// Asks whatever the others do.
    pub fn ticket(self: &Arc<Self>) -> Ticket {
        let mut gate = self.gate();
        gate.asking += 1;
        Ticket { local: self.clone(), ended: gate.ended }
    }

    /// What calls of an epoch are admitted under; none where that is not known.
    pub fn admitted(&self, epoch: u64) -> Option<Admitted> {
        let (look, generation) = self.board.read()?;
        let terms = look.terms().filter(|terms| terms.epoch == epoch)?;
        let slower_than = terms.slower_than.map(Duration::from_millis);
        Some(Admitted { epoch, generation: Some(generation), slower_than })
    }

    /// Counts a success; false where its generation is over.
    #[inline]
    pub fn count(&self, generation: u32, slow: bool) -> bool {
        self.cells.get().is_some_and(|cells| cells.add(place(), generation, slow))
    }

    /// Ends the look before its time. What was counted under it comes back.
    pub fn end(&self) -> Option<Due> {
        self.end_locked(&mut self.gate())
    }

    fn end_locked(&self, gate: &mut Gate) -> Option<Due> {
        gate.ended += 1;
        let due = self.count_for(gate, None);
        self.board.write(&Look::NONE, gate.generation);
        due
    }

    /// Ends the look where an answer speaks of another state than it does.
    pub fn hear(&self, answer: &Answer, version: u64) -> Option<Due> {
        let mut gate = self.gate();
        // Of what is older than the look, nothing is new.
        let newer = version > gate.version;
        let other = match answer {
            Answer::Receipt(receipt) => {
                let elsewhere = receipt.state != State::Closed || receipt.verdict != Verdict::Applied;
                !receipt.transitions.is_empty() || newer && elsewhere
            }
            Answer::Inspection(inspection) => newer && gate.counting != Some(inspection.epoch),
            Answer::Pruned(removed) => *removed,
            Answer::Decision(_) | Answer::Policy(_) => false,
        };
        if other { self.end_locked(&mut gate) } else { None }
    }

    /// Takes out what was counted, in the epoch that it was counted for.
    pub fn drain(&self) -> Option<Due> {
        let gate = self.gate();
        let epoch = gate.counting?;
        let counted = self.cells.get()?.drain(gate.generation);
        (!counted.is_empty()).then_some(Due { epoch, counted })
    }

    /// Whether anything is counted that the store has not been told.
    fn has_counts(&self) -> bool {
        self.cells.get().is_some_and(|cells| !cells.is_empty())
    }

    /// Whether the look of a generation still holds.
    fn holds(&self, generation: u32, clock: &dyn Clock, lag: Duration) -> bool {
        self.board.read().is_some_and(|(look, now)| now == generation && look.age(clock, lag).is_some())
    }

    /// For how long the look still holds.
    fn left(&self, clock: &dyn Clock, lag: Duration) -> Duration {
        let left = self.board.read().and_then(|(look, _)| Some(look.fresh_for.saturating_sub(look.age(clock, lag)?)));
        Duration::from_millis(left.unwrap_or(0))
    }

    /// Takes in the answer to an acquire. What was counted under another epoch comes back.
    fn learn(
        &self,
        ticket: &Ticket,
        decision: &Decision,
        version: u64,
        sent: Sent,
        clock: &dyn Clock,
    ) -> (Option<u32>, Option<Due>) {
        let mut gate = self.gate();
        let look = Look::of(decision, sent);
        // From a store that takes longer than a look holds, no answer serves others: who waited for it would only have
        // to wait in line.
        let serves = look.answers() && look.age(clock, clock.lag()).is_some();
        gate.shares = serves || matches!(decision, Decision::Probe(_));
        if gate.ended != ticket.ended || version < gate.version {
            return (None, None);
        }
        gate.version = version;
        let due = self.count_for(&mut gate, look.terms().map(|terms| terms.epoch));
        self.board.write(&look, gate.generation);
        (gate.counting.map(|_| gate.generation), due)
    }

    /// Counts for an epoch from now on.
    fn count_for(&self, gate: &mut Gate, epoch: Option<u64>) -> Option<Due> {
        if gate.counting == epoch {
            return None;
        }
        gate.generation = gate.generation.wrapping_add(1);
        let before = std::mem::replace(&mut gate.counting, epoch);
        // Made with the first look that admits: who is only ever refused needs none.
        let cells = self.cells.get_or_init(|| Cells::new(stripes(), gate.generation));
        let counted = cells.turn(gate.generation);
        before.filter(|_| !counted.is_empty()).map(|epoch| Due { epoch, counted })
    }
}

impl Due {
    pub fn permit(&self) -> Permit {
        Permit { epoch: self.epoch, lease: None }
    }

    pub fn tally(&self) -> Tally {
        Tally { successes: self.counted.plain, slow_successes: self.counted.slow, ..Tally::default() }
    }
}

impl Ticket {
    /// The answer is no answer, or serves nobody else: whoever waits asks by itself, and all at once.
    pub fn failed(&self) {
        self.local.gate().shares = false;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.local.gate().asking -= 1;
        self.local.asked.notify(usize::MAX);
    }
}

#[cfg(test)]
mod parts_tests;
#[cfg(test)]
mod tests;
