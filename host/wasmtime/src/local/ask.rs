//! What is answered from memory, and how an answer gets there.

use std::sync::Arc;
use std::time::Duration;

use super::look::{Look, Says, Terms};
use super::{Admitted, Due, Local, LocalAdmission, Ticket};
use crate::clock::Clock;
use crate::sent::Sent;
use crate::wire::{Decision, Deferral};

/// An answer from memory.
pub(crate) enum Remembered {
    Admit(FromMemory),
    Defer(Deferral),
}

/// An admission from memory, and the look that it is of.
pub(crate) struct FromMemory {
    pub admitted: Admitted,
    pub percent: u32,
    pub sent: Sent,
    pub fresh_for: u64,
}

impl LocalAdmission {
    /// What the last look says of one more call; none where it has to be asked.
    #[inline]
    pub fn recall(&self, local: &Local, clock: &dyn Clock) -> Option<Remembered> {
        let (look, generation) = local.board.read()?;
        if !look.answers() {
            return None;
        }
        let age = look.age(clock, self.lag)?;
        Some(match &look.says {
            Says::Admit(terms) => Remembered::Admit(FromMemory::new(&look, terms, generation)),
            Says::Draw(terms, _) if self.draw.hits(terms.percent) => {
                Remembered::Admit(FromMemory::new(&look, terms, generation))
            }
            Says::Draw(_, refusal) => Remembered::Defer(look.deferral(refusal.as_ref(), age)),
            Says::Refuse(refusal) => Remembered::Defer(look.deferral(Some(refusal), age)),
            Says::Nothing => return None,
        })
    }
}

impl FromMemory {
    fn new(look: &Look, terms: &Terms, generation: u32) -> Self {
        let slower_than = terms.slower_than.map(Duration::from_millis);
        FromMemory {
            admitted: Admitted { epoch: terms.epoch, generation: Some(generation), slower_than },
            percent: terms.percent,
            sent: look.sent,
            fresh_for: look.fresh_for,
        }
    }
}

impl Ticket {
    /// Takes in the answer. What it admits is counted in the generation that comes back; what was counted in an earlier
    /// one is due.
    pub fn answered(
        &self,
        decision: &Decision,
        version: u64,
        sent: Sent,
        clock: &dyn Clock,
    ) -> (Option<u32>, Option<Due>) {
        self.local.learn(self, decision, version, sent, clock)
    }

    /// What this one asks for.
    pub fn local(&self) -> &Arc<Local> {
        &self.local
    }
}
