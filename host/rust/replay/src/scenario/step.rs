use std::sync::Arc;

use halfopen_contract::engine::Operation;
use halfopen_contract::types::{Permit, Report, Tally};

use crate::expect::Expected;

/// A line after the first.
#[derive(Clone, Debug)]
pub struct Step {
    /// The number of the line; the first is 1.
    pub line: usize,
    pub at: u64,
    /// The word that `do` has.
    pub name: &'static str,
    pub dependency: Arc<str>,
    /// The caller, or the operator; may be empty.
    pub by: Arc<str>,
    pub action: Action,
    pub times: u64,
    pub expect: Expected,
    /// The expected state after the step.
    pub state: Option<Expected>,
}

/// What a step does.
#[derive(Clone, Debug)]
pub enum Action {
    /// An acquire, whose permit is kept under this name.
    Acquire(String),
    /// An operation under the permit that is kept under this name.
    WithPermit(String, Settlement),
    /// An inspection, or an act of an operator.
    Operate(Operation),
    /// The host is closed and opened again on the same store.
    Restart,
}

/// An operation that takes a permit.
#[derive(Clone, Debug)]
pub enum Settlement {
    Report(Report),
    Tally(Tally),
    Renew,
    Release,
}

impl Settlement {
    pub fn operation(&self, permit: Permit) -> Operation {
        match self.clone() {
            Settlement::Report(report) => Operation::Report { permit, report },
            Settlement::Tally(tally) => Operation::ReportTally { permit, tally },
            Settlement::Renew => Operation::Renew { permit },
            Settlement::Release => Operation::Release { permit },
        }
    }
}
