//! What a process was told last, and answers from until that is over: by the very code of the library.

use std::time::Duration;

use halfopen_contract::time::{Clock, Reading};
use halfopen_contract::types::{Admission, Decision, DeferReason, Deferral, Permit};

use crate::cached_decision::CachedDecision;
use crate::guest::{Op, Pass, Reply, View};

/// An answer, when it was asked for by both clocks, and the record that it rests on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Memory {
    pub reply: Reply,
    /// Ms that had passed.
    pub time: u64,
    /// What the clock showed.
    pub clock: u64,
    pub view: View,
}

/// An answer from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recalled {
    Admit(Pass),
    Defer { retry_after: u64 },
}

/// How a process recalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recall {
    /// As the library does.
    Sound,
    /// Broken: for so long from when the answer came, not from when it was asked for.
    FromArrival,
    /// Broken: by the wall clock alone.
    WallClockOnly,
    /// Broken: for a millisecond more than it was told.
    TooLong,
}

/// Both clocks at an instant.
struct At {
    clock: u64,
    time: u64,
}

impl Clock for At {
    fn now(&self) -> u64 {
        self.clock
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.time)
    }
}

impl Memory {
    /// What an answer leaves to remember.
    pub fn of(op: Op, reply: Reply, (time, clock): (u64, u64), view: &View) -> Option<Memory> {
        let remembers =
            matches!(reply, Reply::Proceed { fresh_for, .. } | Reply::Defer { fresh_for, .. } if fresh_for > 0);
        (op == Op::Acquire && remembers).then(|| Memory { reply, time, clock, view: view.clone() })
    }

    /// What it answers now; none where the component has to be asked.
    pub fn recall(&self, recall: Recall, clock: u64, time: u64) -> Option<Recalled> {
        let request_time = Reading { now: self.clock, monotonic: Duration::from_millis(self.time) };
        let mut cached = CachedDecision::of(&decision(self.reply)?, request_time);
        let mut at = At { clock, time };
        match recall {
            Recall::Sound | Recall::FromArrival => {}
            Recall::WallClockOnly => at.time = self.time,
            Recall::TooLong => cached.fresh_for += 1,
        }
        let age = cached.age(&at)?;
        match (cached.admission, cached.refusal) {
            (Some(all), None) => Some(Recalled::Admit(Pass { epoch: all.permit.epoch, lease: None })),
            (None, Some(_)) => Some(Recalled::Defer { retry_after: cached.deferral(age).retry_after }),
            _ => None,
        }
    }
}

fn decision(reply: Reply) -> Option<Decision> {
    match reply {
        Reply::Proceed { pass, fresh_for } => {
            let permit = Permit { epoch: pass.epoch, lease: pass.lease };
            Some(Decision::Proceed(Admission { permit, fresh_for, percent: 100, slower_than: None }))
        }
        Reply::Defer { retry_after, forced, fresh_for } => {
            let reason = if forced { DeferReason::ForcedOpen } else { DeferReason::Open };
            Some(Decision::Defer(Deferral { retry_after, spread: 0, reason, fresh_for, admission: None }))
        }
        _ => None,
    }
}
