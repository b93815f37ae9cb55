//! The course of an operation: look, decide, write, and again where others were faster. It does none of that itself, so that
//! plain and async code go the same way.

use std::time::Duration;

use crate::batch::{CameTo, Settled, Tried, Wanted};
use crate::error::{BreakerError, StoreError};
use crate::op::Op;
use crate::race::{Next, Race};
use crate::store::Snapshot;

/// What an operation does next.
pub(crate) enum Todo {
    /// Look at its record, after so long.
    Look(Duration),
    /// Run on the record as it is known to be.
    Decide(Snapshot),
    /// Write what it wants.
    Write(Wanted),
    /// Nothing: it is settled.
    Done(Settled),
}

/// An operation on its way.
pub(crate) struct Course<'a> {
    op: &'a Op,
    race: Option<Race>,
}

impl<'a> Course<'a> {
    pub fn new(op: &'a Op) -> Self {
        Course { op, race: None }
    }

    pub fn looked(&self, looked: Result<Snapshot, StoreError>) -> Todo {
        looked.map_or_else(|error| Todo::Done(Err(error.into())), Todo::Decide)
    }

    pub fn decided(&mut self, tried: Tried) -> Todo {
        match tried {
            Tried::Settled(settled) => Todo::Done(settled),
            Tried::Wants(wanted) => {
                self.race.get_or_insert_with(|| Race::new(&self.op.call));
                Todo::Write(wanted)
            }
        }
    }

    pub fn wrote(&mut self, came_to: CameTo) -> Todo {
        let present = match came_to {
            CameTo::Settled(settled) => return Todo::Done(settled),
            CameTo::Lost(present) => present,
        };
        let race = self.race.get_or_insert_with(|| Race::new(&self.op.call));
        match (race.lost(), present) {
            (Next::GiveUp, _) => {
                Todo::Done(Err(BreakerError::Contended { dependency: self.op.dependency.to_string() }))
            }
            (Next::Decide, Some(present)) => Todo::Decide(present),
            (Next::Decide, None) => Todo::Look(Duration::ZERO),
            (Next::LookAfter(pause), _) => Todo::Look(pause),
        }
    }
}
