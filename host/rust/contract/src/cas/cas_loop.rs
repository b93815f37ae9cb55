use std::time::{Duration, Instant};

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
            (None, _) => Step::Done(Err(BreakerError::Contended { dependency: self.request.dependency.to_string() })),
            (Some(Duration::ZERO), Some(present)) => Step::Evaluate(present),
            (Some(pause), _) => Step::Load(pause),
        }
    }
}

/// An operation retries for at most this time. One caller wins each race, so only hundreds of callers that write the same
/// record without a pause reach it.
const LIMIT: Duration = Duration::from_secs(10);

/// A report retries for longer: its call has been made, and its outcome can still count.
const LIMIT_OF_REPORTS: Duration = Duration::from_secs(30);

/// The number of retries without a pause: the first races are lost to a few callers, later ones to many.
const WITHOUT_PAUSE: u32 = 3;

/// A pause is at most this many times as long as an attempt takes.
const LONGEST_PAUSE: u32 = 4;

/// The race of an operation for its record.
#[derive(Debug)]
struct Race {
    until: Instant,
    lost: u32,
    /// When the present attempt began.
    begun: Instant,
}

impl Race {
    fn new(request: &Request) -> Race {
        let limit = if request.operation.is_report() { LIMIT_OF_REPORTS } else { LIMIT };
        let now = Instant::now();
        Race { until: now + limit, lost: 0, begun: now }
    }

    /// Counts a lost race. Returns the pause before the next attempt; none where there is to be none.
    fn lost(&mut self) -> Option<Duration> {
        self.lost += 1;
        let now = Instant::now();
        let took = now.saturating_duration_since(std::mem::replace(&mut self.begun, now));
        if now >= self.until {
            return None;
        }
        let many = self.lost.saturating_sub(WITHOUT_PAUSE).min(LONGEST_PAUSE);
        // With jitter: callers that lost together do not meet again.
        let pause = took.mul_f64(fastrand::f64() * f64::from(many));
        self.begun = now + pause;
        Some(pause)
    }
}

#[cfg(test)]
mod tests;
