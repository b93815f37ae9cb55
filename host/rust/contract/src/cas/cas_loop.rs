use std::time::Duration;

use super::race::{Next, Race};
use super::records::{CommitResult, PendingWrite, Settled};
use crate::engine::{Evaluation, Request};
use crate::error::BreakerError;
use crate::store::{Snapshot, StoreError};

/// The next step of an operation.
#[derive(Debug)]
pub enum Step {
    /// Load the record, after a pause.
    Load(Duration),
    /// Evaluate the operation on the record.
    Evaluate(Snapshot),
    /// Commit what the operation writes.
    Commit(PendingWrite),
    /// The operation is settled.
    Done(Result<Settled, BreakerError>),
}

/// The loop of one operation. Its driver does each [`Step`] and hands the result back.
#[derive(Debug)]
pub struct CasLoop<'a> {
    request: &'a Request,
    race: Option<Race>,
}

impl<'a> CasLoop<'a> {
    /// A loop before its first step, which is a load.
    pub fn new(request: &'a Request) -> Self {
        CasLoop { request, race: None }
    }

    /// The step after a load.
    pub fn loaded(&self, loaded: Result<Snapshot, StoreError>) -> Step {
        loaded.map_or_else(|error| Step::Done(Err(error.into())), Step::Evaluate)
    }

    /// The step after an evaluation on `snapshot`.
    pub fn evaluated(&mut self, snapshot: Snapshot, evaluation: Result<Evaluation, BreakerError>) -> Step {
        let Evaluation { answer, write } = match evaluation {
            Ok(evaluation) => evaluation,
            Err(error) => return Step::Done(Err(error)),
        };
        match write {
            None => Step::Done(Ok(Settled { answer, version: snapshot.version, transitions: Vec::new() })),
            Some(write) => {
                self.race.get_or_insert_with(|| Race::new(self.request));
                Step::Commit(PendingWrite { snapshot, answer, write })
            }
        }
    }

    /// The step after a commit.
    pub fn committed(&mut self, result: CommitResult) -> Step {
        let present = match result {
            CommitResult::Settled(settled) => return Step::Done(settled),
            CommitResult::Lost(present) => present,
        };
        match (self.race.get_or_insert_with(|| Race::new(self.request)).lost(), present) {
            (Next::GiveUp, _) => {
                Step::Done(Err(BreakerError::Contended { dependency: self.request.dependency.to_string() }))
            }
            (Next::Evaluate, Some(present)) => Step::Evaluate(present),
            (Next::Evaluate, None) => Step::Load(Duration::ZERO),
            (Next::LoadAfter(pause), _) => Step::Load(pause),
        }
    }
}
