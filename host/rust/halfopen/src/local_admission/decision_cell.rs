//! The place of a cached decision, for all threads to read. Writers are few; a reader that meets one finds nothing, and
//! takes the slow path.

use std::time::Duration;

use halfopen_contract::time::{Clock, Reading};

use super::atomic::{AtomicU64, Ordering};
use super::cached_decision::{AdmissionTerms, CachedDecision, FurtherCalls, Refusal, RefusalReason};
use super::fast_path::FastPath;
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

    /// The epoch and the generation that calls are admitted in, if [`read_fast`](DecisionCell::read_fast) found so at this
    /// very tick of the clock: the few operations that nearly every call takes.
    #[inline(always)]
    pub fn still_admits(&self, clock: &(impl Clock + ?Sized)) -> Option<(u64, u32)> {
        let ([head, epoch], number) = self.words.read_first()?;
        // Reading the clock is most of what this costs; a call that is refused does not read it.
        let held = head & 0xff == ADMIT && self.held.load(Ordering::Relaxed) == held(number, clock.tick()?);
        held.then_some((epoch, (head >> 32) as u32))
    }

    /// The decision on one more call where it is plain and certain to hold: the same as [`read`](DecisionCell::read) and
    /// [`CachedDecision::age`], or nothing.
    pub fn read_fast(&self, clock: &dyn Clock) -> FastPath {
        let Some((words, number)) = self.words.read_first().filter(|(_, number)| number.is_multiple_of(2)) else {
            return FastPath::None;
        };
        let [head, epoch, slower_than, now, monotonic, fresh_for] = words;
        let admits = head & 0xff == ADMIT && slower_than == NEVER;
        // Before the coarse reading: what holds at that holds at this.
        let tick = if admits { clock.tick() } else { None };
        let coarse = clock.coarse();
        // The ages by both clocks, with the resolution on top. From before the request they wrap around, and are beyond
        // any end.
        let resolution = nanos(clock.resolution());
        let wall = coarse.now.wrapping_add(resolution.div_ceil(MS)).wrapping_sub(now);
        let monotonic = nanos(coarse.monotonic).wrapping_add(resolution).wrapping_sub(monotonic);
        if wall >= fresh_for || monotonic >= fresh_for.saturating_mul(MS) {
            return FastPath::None;
        }
        if admits {
            if let Some(tick) = tick {
                self.held.store(held(number, tick), Ordering::Relaxed);
            }
            return FastPath::Admit { epoch, generation: (head >> 32) as u32 };
        }
        match head & 0xff {
            REFUSE => FastPath::Refuse { age: wall.max(monotonic / MS).saturating_sub(resolution / MS) },
            _ => FastPath::None,
        }
    }

    /// Writes. One thread at a time: the caller holds the lock of the writers.
    pub fn write(&self, decision: &CachedDecision, generation: u32) {
        self.words.write(encode(decision, generation));
    }
}

/// The kinds of decision that have a fast path.
const ADMIT: u64 = 1;
const REFUSE: u64 = 4;

/// A decision, by the number of its write, and a tick of the clock, in one word. It repeats after days. Only finished writes,
/// whose number is even, are ever noted.
#[inline]
fn held(number: u64, tick: u64) -> u64 {
    tick << 16 | number & 0xffff
}

/// No decision has held yet: at tick 0 there was none.
const NOT_HELD: u64 = 0;

/// One, in nanoseconds.
const MS: u64 = 1_000_000;

/// A time as a number. No clock shows more than the 500 years that it holds.
#[inline]
fn nanos(time: Duration) -> u64 {
    time.as_secs().wrapping_mul(1_000_000_000).wrapping_add(time.subsec_nanos().into())
}

fn encode(decision: &CachedDecision, generation: u32) -> [u64; WORDS] {
    let (kind, terms, refusal) = match decision.further {
        FurtherCalls::Acquire => (0, None, None),
        FurtherCalls::Admit(terms) => (ADMIT, Some(terms), None),
        FurtherCalls::Sample(terms, None) => (2, Some(terms), None),
        FurtherCalls::Sample(terms, Some(refusal)) => (3, Some(terms), Some(refusal)),
        FurtherCalls::Refuse(refusal) => (REFUSE, None, Some(refusal)),
    };
    let terms = terms.unwrap_or(AdmissionTerms { epoch: 0, percent: 0, slower_than: None });
    let refusal = refusal.unwrap_or(Refusal { retry_after: 0, spread: 0, reason: RefusalReason::Open });
    let percent = u64::from(terms.percent.min(100));
    [
        u64::from(generation) << 32 | percent << 16 | (refusal.reason as u64) << 8 | kind,
        terms.epoch,
        terms.slower_than.unwrap_or(NEVER),
        decision.request_time.now,
        nanos(decision.request_time.monotonic),
        decision.fresh_for,
        refusal.retry_after,
        refusal.spread,
    ]
}

#[inline]
fn decode(words: [u64; WORDS]) -> (CachedDecision, u32) {
    let [head, epoch, slower_than, now, monotonic, fresh_for, retry_after, spread] = words;
    let slower_than = (slower_than != NEVER).then_some(slower_than);
    let terms = AdmissionTerms { epoch, percent: (head >> 16) as u32 & 0xff, slower_than };
    let reason = match head >> 8 & 0xff {
        0 => RefusalReason::Open,
        1 => RefusalReason::Probing,
        2 => RefusalReason::ForcedOpen,
        _ => RefusalReason::Ramping,
    };
    let refusal = Refusal { retry_after, spread, reason };
    let further = match head & 0xff {
        ADMIT => FurtherCalls::Admit(terms),
        2 => FurtherCalls::Sample(terms, None),
        3 => FurtherCalls::Sample(terms, Some(refusal)),
        REFUSE => FurtherCalls::Refuse(refusal),
        _ => FurtherCalls::Acquire,
    };
    let request_time = Reading { now, monotonic: Duration::from_nanos(monotonic) };
    (CachedDecision { further, request_time, fresh_for }, (head >> 32) as u32)
}

#[cfg(test)]
mod tests;
