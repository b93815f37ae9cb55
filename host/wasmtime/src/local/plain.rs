//! The short way, for what nearly every call meets: a look that admits all calls or refuses them, well before its end.

use super::Local;
use super::look::{Look, Says};
use crate::clock::Clock;
use crate::wire::Deferral;

/// What the look says of one more call, where that takes no draw and no exact clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plain {
    /// Admit it; nobody will want to know how long it took.
    Admit { epoch: u64, generation: u32 },
    /// Refuse it. So many ms have passed since the look.
    Refuse { age: u64 },
    /// What it says is not so plain, or not known: the long way.
    Else,
}

impl Local {
    /// The epoch and the generation that one more call is admitted in, if that is known without a closer look.
    #[inline(always)]
    pub fn still_admits(&self, clock: &(impl Clock + ?Sized)) -> Option<(u64, u32)> {
        self.board.still_admits(clock)
    }

    /// What the last look says of one more call, if that is plain.
    pub fn plainly(&self, clock: &dyn Clock) -> Plain {
        self.board.read_plain(clock)
    }

    /// The refusal of the look, so many ms after it; none where another look has come meanwhile.
    pub fn refusal(&self, age: u64) -> Option<Deferral> {
        match self.board.read()?.0 {
            look @ Look { says: Says::Refuse(refusal), .. } => Some(look.deferral(Some(&refusal), age)),
            _ => None,
        }
    }
}
