//! Where the last look stands for all threads to read. Writers are few; a reader that meets one finds nothing, and goes
//! the slow way.

use std::time::Duration;

use super::look::{Look, Reason, Refusal, Says, Terms};
use super::sequence::Sequence;
use crate::sent::Sent;

/// A look, and the generation that its admissions are counted in.
#[repr(align(64))]
pub(crate) struct Board(Sequence<WORDS>);

const WORDS: usize = 8;

/// No length of time in a policy is as long.
const NEVER: u64 = u64::MAX;

impl Board {
    pub fn new() -> Self {
        Board(Sequence::new(encode(&Look::NONE, 0)))
    }

    /// What stands there; none while it is being written.
    #[inline]
    pub fn read(&self) -> Option<(Look, u32)> {
        self.0.read().map(decode)
    }

    /// Writes. Only one at a time: the caller holds the lock of the writers.
    pub fn write(&self, look: &Look, generation: u32) {
        self.0.write(encode(look, generation));
    }
}

fn encode(look: &Look, generation: u32) -> [u64; WORDS] {
    let (kind, terms, refusal) = match look.says {
        Says::Nothing => (0, None, None),
        Says::Admit(terms) => (1, Some(terms), None),
        Says::Draw(terms, None) => (2, Some(terms), None),
        Says::Draw(terms, Some(refusal)) => (3, Some(terms), Some(refusal)),
        Says::Refuse(refusal) => (4, None, Some(refusal)),
    };
    let terms = terms.unwrap_or(Terms { epoch: 0, percent: 0, slower_than: None });
    let refusal = refusal.unwrap_or(Refusal { retry_after: 0, spread: 0, reason: Reason::Open });
    let percent = u64::from(terms.percent.min(100));
    [
        u64::from(generation) << 32 | percent << 16 | (refusal.reason as u64) << 8 | kind,
        look.sent.now,
        u64::try_from(look.sent.monotonic.as_nanos()).unwrap_or(u64::MAX),
        look.fresh_for,
        terms.epoch,
        terms.slower_than.unwrap_or(NEVER),
        refusal.retry_after,
        refusal.spread,
    ]
}

#[inline]
fn decode([head, now, monotonic, fresh_for, epoch, slower_than, retry_after, spread]: [u64; WORDS]) -> (Look, u32) {
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
        1 => Says::Admit(terms),
        2 => Says::Draw(terms, None),
        3 => Says::Draw(terms, Some(refusal)),
        4 => Says::Refuse(refusal),
        _ => Says::Nothing,
    };
    let sent = Sent { now, monotonic: Duration::from_nanos(monotonic) };
    (Look { says, sent, fresh_for }, (head >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
