//! The place of a cached decision, for all threads to read. Writers are few; a reader that meets one finds nothing, and
//! takes the slow path.

use std::time::Duration;

use halfopen_contract::time::{Clock, Reading};
use halfopen_contract::types::{Admission, Permit};

use super::atomic::{AtomicU64, Ordering};
use super::cached_decision::{CachedDecision, Refusal};
use super::seqlock::SeqLock;

/// A cached decision, and the generation that its admissions are counted in.
pub(crate) struct DecisionCell {
    words: SeqLock<WORDS>,
    /// The decision that was last found to admit all calls, and the tick of the clock at which it was.
    held: AtomicU64,
}

const WORDS: usize = 8;

/// No length of time in a policy is as long.
const NEVER: u64 = u64::MAX;

/// The kinds of a decision: with an admission, with a refusal, with both, with neither.
const ADMISSION: u64 = 1;
const REFUSAL: u64 = 2;

impl DecisionCell {
    /// A cell without a decision.
    pub fn new() -> Self {
        DecisionCell { words: SeqLock::new(encode(&CachedDecision::NONE, 0)), held: AtomicU64::new(NOT_HELD) }
    }

    /// The decision and its generation; none while they are being written.
    #[inline]
    pub fn read(&self) -> Option<(CachedDecision, u32)> {
        self.words.read().map(decode)
    }

    /// The epoch and the generation that calls are admitted in, if [`admits`](DecisionCell::admits) found so at this very
    /// tick of the clock: the few operations that nearly every call takes.
    #[inline(always)]
    pub fn still_admits(&self, clock: &(impl Clock + ?Sized)) -> Option<(u64, u32)> {
        let ([head, epoch], number) = self.words.read_first()?;
        // Reading the clock is most of what this costs; a call that is refused does not read it.
        let held = head & 0xff == ADMISSION && self.held.load(Ordering::Relaxed) == held(number, clock.tick()?);
        held.then_some((epoch, (head >> 32) as u32))
    }

    /// The epoch and the generation that calls are admitted in, where all of them are, well before the end of the decision,
    /// and the time that they take does not count.
    pub fn admits(&self, clock: &dyn Clock) -> Option<(u64, u32)> {
        // Most calls that come here are refused: they do not read the rest.
        let ([head], _) = self.words.read_first()?;
        if head & 0xff != ADMISSION {
            return None;
        }
        let (words, number) = self.words.read_first().filter(|(_, number)| number.is_multiple_of(2))?;
        let (decision, generation) = decode(words);
        let admission = decision.admission.filter(|all| all.percent >= 100 && all.slower_than.is_none())?;
        // Before the coarse reading: what holds at that holds at this.
        let tick = clock.tick();
        if decision.refusal.is_some() || decision.coarse_age(clock).is_none() {
            return None;
        }
        if let Some(tick) = tick {
            self.held.store(held(number, tick), Ordering::Relaxed);
        }
        Some((admission.permit.epoch, generation))
    }

    /// Writes. One thread at a time: the caller holds the lock of the writers.
    pub fn write(&self, decision: &CachedDecision, generation: u32) {
        self.words.write(encode(decision, generation));
    }
}

/// A decision, by the number of its write, and a tick of the clock, in one word. It repeats after days. Only finished writes,
/// whose number is even, are ever noted.
#[inline]
fn held(number: u64, tick: u64) -> u64 {
    tick << 16 | number & 0xffff
}

/// No decision has held yet: at tick 0 there was none.
const NOT_HELD: u64 = 0;

fn encode(decision: &CachedDecision, generation: u32) -> [u64; WORDS] {
    let CachedDecision { admission, refusal, request_time, fresh_for } = decision;
    let kind = admission.map_or(0, |_| ADMISSION) | refusal.map_or(0, |_| REFUSAL);
    let percent = admission.map_or(0, |admission| u64::from(admission.percent.min(100)));
    let reason = refusal.map_or(0, |refusal| u64::from(refusal.reason));
    // No clock shows more than the 500 years that this holds.
    let monotonic = request_time.monotonic.as_nanos() as u64;
    [
        u64::from(generation) << 32 | percent << 16 | reason << 8 | kind,
        admission.map_or(0, |admission| admission.permit.epoch),
        admission.and_then(|admission| admission.slower_than).unwrap_or(NEVER),
        request_time.now,
        monotonic,
        *fresh_for,
        refusal.map_or(0, |refusal| refusal.retry_after),
        refusal.map_or(0, |refusal| refusal.spread),
    ]
}

#[inline]
fn decode(words: [u64; WORDS]) -> (CachedDecision, u32) {
    let [head, epoch, slower_than, now, monotonic, fresh_for, retry_after, spread] = words;
    let admission = || Admission {
        permit: Permit { epoch, lease: None },
        fresh_for,
        percent: (head >> 16) as u32 & 0xff,
        slower_than: (slower_than != NEVER).then_some(slower_than),
    };
    let refusal = || Refusal { retry_after, spread, reason: (head >> 8) as u8 };
    let decision = CachedDecision {
        admission: (head & ADMISSION != 0).then(admission),
        refusal: (head & REFUSAL != 0).then(refusal),
        request_time: Reading { now, monotonic: Duration::from_nanos(monotonic) },
        fresh_for,
    };
    (decision, (head >> 32) as u32)
}

#[cfg(test)]
mod tests;
