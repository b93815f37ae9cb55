//! Where the last look stands for all threads to read. Writers are few; a reader that meets one finds nothing, and goes
//! the slow way.

use std::time::Duration;

use super::Plain;
use super::atomic::{AtomicU64, Ordering};
use super::look::{Look, Reason, Refusal, Says, Terms};
use super::sequence::Sequence;
use crate::clock::Clock;
use crate::sent::Sent;

/// A look, and the generation that its admissions are counted in.
pub(crate) struct Board {
    look: Sequence<WORDS>,
    /// The look that was last found to admit calls plainly, and at which tick of the clock.
    held: AtomicU64,
}

const WORDS: usize = 8;

/// No length of time in a policy is as long.
const NEVER: u64 = u64::MAX;

impl Board {
    pub fn new() -> Self {
        Board { look: Sequence::new(encode(&Look::NONE, 0)), held: AtomicU64::new(NOT_HELD) }
    }

    /// What stands there; none while it is being written.
    #[inline]
    pub fn read(&self) -> Option<(Look, u32)> {
        self.look.read().map(decode)
    }

    /// The epoch and the generation that calls are admitted in, if [`read_plain`](Board::read_plain) has said so at this
    /// very tick of the clock: the few operations that nearly every call takes.
    #[inline(always)]
    pub fn still_admits(&self, clock: &(impl Clock + ?Sized)) -> Option<(u64, u32)> {
        let ([head, epoch], number) = self.look.read_first()?;
        // Reading the clock is most of what this costs; who is refused is spared it.
        let held = head & 0xff == ADMIT && self.held.load(Ordering::Relaxed) == held(number, clock.tick()?);
        held.then_some((epoch, (head >> 32) as u32))
    }

    /// What stands there, if it is plain and certain to hold: what [`read`](Board::read) and [`Look::age`] say, or nothing.
    pub fn read_plain(&self, clock: &dyn Clock) -> Plain {
        let Some((words, number)) = self.look.read_first().filter(|(_, number)| number.is_multiple_of(2)) else {
            return Plain::Else;
        };
        let [head, epoch, slower_than, now, monotonic, fresh_for] = words;
        let admits = head & 0xff == ADMIT && slower_than == NEVER;
        // Before the glance: what holds at that holds at this.
        let tick = if admits { clock.tick() } else { None };
        let glance = clock.glance();
        // The ages by both clocks, with the lag on top. From before the look they wrap around, and are beyond any end.
        let lag = nanos(clock.lag());
        let wall = glance.now.wrapping_add(lag.div_ceil(MS)).wrapping_sub(now);
        let monotonic = nanos(glance.monotonic).wrapping_add(lag).wrapping_sub(monotonic);
        if wall >= fresh_for || monotonic >= fresh_for.saturating_mul(MS) {
            return Plain::Else;
        }
        if admits {
            if let Some(tick) = tick {
                self.held.store(held(number, tick), Ordering::Relaxed);
            }
            return Plain::Admit { epoch, generation: (head >> 32) as u32 };
        }
        match head & 0xff {
            REFUSE => Plain::Refuse { age: wall.max(monotonic / MS).saturating_sub(lag / MS) },
            _ => Plain::Else,
        }
    }

    /// Writes. Only one at a time: the caller holds the lock of the writers.
    pub fn write(&self, look: &Look, generation: u32) {
        self.look.write(encode(look, generation));
    }
}

/// The kinds of look that are plain.
const ADMIT: u64 = 1;
const REFUSE: u64 = 4;

/// A look, by the number of its writing, and a tick of the clock, in one word. It repeats after days. Only finished
/// writings, whose number is even, are ever noted.
#[inline]
fn held(number: u64, tick: u64) -> u64 {
    tick << 16 | number & 0xffff
}

/// Nothing has held yet: at the beginning of time, and then nothing was said.
const NOT_HELD: u64 = 0;

/// One, in nanoseconds.
const MS: u64 = 1_000_000;

/// As a number. No clock shows more than the 500 years that it holds.
#[inline]
fn nanos(time: Duration) -> u64 {
    time.as_secs().wrapping_mul(1_000_000_000).wrapping_add(time.subsec_nanos().into())
}

fn encode(look: &Look, generation: u32) -> [u64; WORDS] {
    let (kind, terms, refusal) = match look.says {
        Says::Nothing => (0, None, None),
        Says::Admit(terms) => (ADMIT, Some(terms), None),
        Says::Draw(terms, None) => (2, Some(terms), None),
        Says::Draw(terms, Some(refusal)) => (3, Some(terms), Some(refusal)),
        Says::Refuse(refusal) => (REFUSE, None, Some(refusal)),
    };
    let terms = terms.unwrap_or(Terms { epoch: 0, percent: 0, slower_than: None });
    let refusal = refusal.unwrap_or(Refusal { retry_after: 0, spread: 0, reason: Reason::Open });
    let percent = u64::from(terms.percent.min(100));
    [
        u64::from(generation) << 32 | percent << 16 | (refusal.reason as u64) << 8 | kind,
        terms.epoch,
        terms.slower_than.unwrap_or(NEVER),
        look.sent.now,
        nanos(look.sent.monotonic),
        look.fresh_for,
        refusal.retry_after,
        refusal.spread,
    ]
}

#[inline]
fn decode([head, epoch, slower_than, now, monotonic, fresh_for, retry_after, spread]: [u64; WORDS]) -> (Look, u32) {
    let slower_than = (slower_than != NEVER).then_some(slower_than);
    let terms = Terms { epoch, percent: (head >> 16) as u32 & 0xff, slower_than };
    let reason = match head >> 8 & 0xff {
        0 => Reason::Open,
        1 => Reason::Probing,
        2 => Reason::ForcedOpen,
        _ => Reason::Ramping,
    };
    let refusal = Refusal { retry_after, spread, reason };
    let says = match head & 0xff {
        ADMIT => Says::Admit(terms),
        2 => Says::Draw(terms, None),
        3 => Says::Draw(terms, Some(refusal)),
        REFUSE => Says::Refuse(refusal),
        _ => Says::Nothing,
    };
    let sent = Sent { now, monotonic: Duration::from_nanos(monotonic) };
    (Look { says, sent, fresh_for }, (head >> 32) as u32)
}

#[cfg(test)]
mod tests;
