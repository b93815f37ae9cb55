use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use event_listener::{Event, EventListener};
use halfopen_contract::cas::Settled;
use halfopen_contract::engine::Answer;
use halfopen_contract::time::{Clock, Reading};
use halfopen_contract::types::{Decision, Permit, State, Tally, Verdict};

use super::cached_decision::CachedDecision;
use super::decision_cell::DecisionCell;
use super::success_counter::{Added, SuccessCounter, Successes, stripe, stripes};

/// The knowledge of one dependency in this process. All handles of the dependency in one host share it.
pub(crate) struct LocalBreaker {
    pub dependency: Arc<str>,
    cell: DecisionCell,
    /// Made with the first decision that admits: a dependency whose calls are all refused needs none.
    successes: OnceLock<SuccessCounter>,
    gate: Mutex<Gate>,
    answered: Event,
}

struct Gate {
    /// The number of acquires that run now.
    running: u32,
    /// Whether an answer is likely to serve other callers too; where it is not, no caller waits for it.
    shares: bool,
    /// The number of decisions that were ended before their time.
    ended: u64,
    /// The version of the record that the cached decision rests on.
    version: u64,
    generation: u32,
    /// The epoch that the present generation counts for.
    counting: Option<u64>,
}

/// Successes that are due at the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DueSuccesses {
    pub epoch: u64,
    successes: Successes,
}

/// The permission to run an acquire. Dropped, it lets the callers go on that wait for the answer.
pub(crate) struct Ticket {
    local: Arc<LocalBreaker>,
    ended: u64,
}

/// The next step of a caller that finds no cached decision.
pub(crate) enum Entry {
    /// It runs an acquire.
    Acquire(Ticket),
    /// Another caller runs one: it waits, and reads the cached decision again.
    Wait(EventListener),
}

/// The admission of a call without a lease.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Admitted {
    pub epoch: u64,
    /// The generation that its success is counted in; none where it is reported at once.
    pub generation: Option<u32>,
    /// The call is slow if it takes this many ms or longer.
    pub slower_than: Option<u64>,
}

impl Admitted {
    /// Whether a call that took this many ms is slow.
    pub fn is_slow(&self, took: Option<u64>) -> bool {
        matches!((self.slower_than, took), (Some(limit), Some(took)) if took >= limit)
    }
}

impl LocalBreaker {
    /// A dependency of which nothing is known.
    pub(super) fn new(dependency: Arc<str>) -> Self {
        let gate = Gate { running: 0, shares: true, ended: 0, version: 0, generation: 0, counting: None };
        LocalBreaker {
            dependency,
            cell: DecisionCell::new(),
            successes: OnceLock::new(),
            gate: Mutex::new(gate),
            answered: Event::new(),
        }
    }

    fn gate(&self) -> MutexGuard<'_, Gate> {
        self.gate.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cached decision, and its generation; none while it is being written.
    #[inline]
    pub(super) fn decision(&self) -> Option<(CachedDecision, u32)> {
        self.cell.read()
    }

    /// The epoch and the generation that one more call is admitted in, if the fast path found so at this tick.
    #[inline(always)]
    pub fn still_admits(&self, clock: &(impl Clock + ?Sized)) -> Option<(u64, u32)> {
        self.cell.still_admits(clock)
    }

    /// The same, read from the decision and the clock.
    pub fn admits(&self, clock: &dyn Clock) -> Option<(u64, u32)> {
        self.cell.admits(clock)
    }

    /// The admission of calls of an epoch; none where it is not known.
    pub fn admitted(&self, epoch: u64) -> Option<Admitted> {
        let (decision, generation) = self.cell.read()?;
        let admission = decision.admission.filter(|admission| admission.permit.epoch == epoch)?;
        Some(Admitted { epoch, generation: Some(generation), slower_than: admission.slower_than })
    }

    /// Lets one caller at a time run an acquire, where the answer serves the others.
    pub fn enter(self: &Arc<Self>) -> Entry {
        let mut gate = self.gate();
        if gate.running > 0 && gate.shares {
            return Entry::Wait(self.answered.listen());
        }
        gate.running += 1;
        Entry::Acquire(Ticket { local: self.clone(), ended: gate.ended })
    }

    /// Counts a success.
    #[inline]
    pub fn count(&self, generation: u32, slow: bool) -> Added {
        self.successes.get().map_or(Added::Refused, |successes| successes.add(stripe(), generation, slow))
    }

    /// The counter of successes; none before a call was admitted.
    pub fn successes(&self) -> Option<&SuccessCounter> {
        self.successes.get()
    }

    /// Whether successes are counted that the store does not have.
    pub fn has_successes(&self) -> bool {
        self.successes.get().is_some_and(|successes| !successes.is_empty())
    }

    /// Takes out what is counted, and removes its timer.
    pub fn flush(&self) -> Option<DueSuccesses> {
        self.take(SuccessCounter::flush)
    }

    /// Takes out what is counted.
    pub fn drain(&self) -> Option<DueSuccesses> {
        self.take(SuccessCounter::drain)
    }

    fn take(&self, take: impl FnOnce(&SuccessCounter, u32) -> Successes) -> Option<DueSuccesses> {
        let gate = self.gate();
        let successes = take(self.successes.get()?, gate.generation);
        DueSuccesses::new(gate.counting?, successes)
    }

    /// Ends the cached decision before its time. What was counted under it comes back.
    pub fn end(&self) -> Option<DueSuccesses> {
        self.end_locked(&mut self.gate())
    }

    fn end_locked(&self, gate: &mut Gate) -> Option<DueSuccesses> {
        gate.ended += 1;
        let due = self.count_for(gate, None);
        self.cell.write(&CachedDecision::NONE, gate.generation);
        due
    }

    /// Ends the cached decision where the result of an operation shows another state.
    pub fn learn(&self, settled: &Settled) -> Option<DueSuccesses> {
        let mut gate = self.gate();
        // A result that is older than the decision shows nothing new.
        let is_newer = settled.version > gate.version;
        let is_other = match &settled.answer {
            Answer::Receipt(receipt) => {
                let is_elsewhere = receipt.state != State::Closed || receipt.verdict != Verdict::Applied;
                !settled.transitions.is_empty() || is_newer && is_elsewhere
            }
            Answer::Pruned(removed) => *removed,
            Answer::Decision(_) | Answer::Inspection(_) | Answer::Policy(_) => false,
        };
        if is_other { self.end_locked(&mut gate) } else { None }
    }

    /// Ends the cached decision where an inspection at a version of the record shows another epoch.
    pub fn learn_epoch(&self, epoch: u64, version: u64) -> Option<DueSuccesses> {
        let mut gate = self.gate();
        if version > gate.version && gate.counting != Some(epoch) { self.end_locked(&mut gate) } else { None }
    }

    /// Whether the decision of a generation still holds.
    pub fn holds(&self, generation: u32, clock: &dyn Clock) -> bool {
        self.cell.read().is_some_and(|(decision, now)| now == generation && decision.age(clock).is_some())
    }

    /// The time for which the cached decision still holds.
    pub fn left(&self, clock: &dyn Clock) -> Duration {
        let left = |(decision, _): (CachedDecision, u32)| decision.fresh_for.checked_sub(decision.age(clock)?);
        Duration::from_millis(self.cell.read().and_then(left).unwrap_or(0))
    }

    /// Counts for an epoch from now on.
    fn count_for(&self, gate: &mut Gate, epoch: Option<u64>) -> Option<DueSuccesses> {
        if gate.counting == epoch {
            return None;
        }
        gate.generation = gate.generation.wrapping_add(1);
        let before = std::mem::replace(&mut gate.counting, epoch);
        let successes = self.successes.get_or_init(|| SuccessCounter::new(stripes(), gate.generation));
        let counted = successes.begin(gate.generation);
        DueSuccesses::new(before?, counted)
    }
}

impl DueSuccesses {
    fn new(epoch: u64, successes: Successes) -> Option<Self> {
        (!successes.is_empty()).then_some(DueSuccesses { epoch, successes })
    }

    /// The permit that they are reported under.
    pub fn permit(&self) -> Permit {
        Permit { epoch: self.epoch, lease: None }
    }

    /// The tally that reports them.
    pub fn tally(&self) -> Tally {
        Tally { successes: self.successes.plain, slow_successes: self.successes.slow, ..Tally::default() }
    }
}

impl Ticket {
    /// The dependency.
    pub fn local(&self) -> &Arc<LocalBreaker> {
        &self.local
    }

    /// Lets the waiting callers run an acquire each, all at once: the answer is none, or serves no other caller.
    pub fn failed(&self) {
        self.local.gate().shares = false;
    }

    /// Caches a decision. Returns the generation that its admissions are counted in, and what was counted in an earlier one.
    ///
    /// A decision never replaces one of a later version of the record, nor one that was ended since its request.
    pub fn answered(
        &self,
        decision: &Decision,
        version: u64,
        request_time: Reading,
        clock: &dyn Clock,
    ) -> (Option<u32>, Option<DueSuccesses>) {
        let mut gate = self.local.gate();
        let cached = CachedDecision::of(decision, request_time);
        // A store that takes longer than a decision holds serves no other caller: those that waited for the answer would
        // only have to wait in line.
        let serves = cached.answers() && cached.age(clock).is_some();
        gate.shares = serves || matches!(decision, Decision::Probe(_));
        if gate.ended != self.ended || version < gate.version {
            return (None, None);
        }
        gate.version = version;
        let due = self.local.count_for(&mut gate, cached.admission.map(|admission| admission.permit.epoch));
        self.local.cell.write(&cached, gate.generation);
        (gate.counting.map(|_| gate.generation), due)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.local.gate().running -= 1;
        self.local.answered.notify(usize::MAX);
    }
}
