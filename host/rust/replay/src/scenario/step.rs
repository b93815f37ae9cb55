use std::sync::Arc;

use halfopen_contract::engine::Operation;
use halfopen_contract::types::{Permit, Report, State, Tally};

use crate::expect::{ExpectedControl, ExpectedDecision, ExpectedInspection, ExpectedVerdict};

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
    /// The expected state after the step.
    pub state: Option<State>,
}

/// What a step does, and the expectation.
#[derive(Clone, Debug)]
pub enum Action {
    Acquire { keep_as: String, times: u64, expect: Option<ExpectedDecision> },
    Settle { settlement: Settlement, permit: String, times: u64, expect: Option<ExpectedVerdict> },
    Inspect { expect: Option<ExpectedInspection> },
    Control { control: Control, expect: ExpectedControl },
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

/// An act of an operator.
#[derive(Clone, Debug)]
pub enum Control {
    /// Of the contract: configure, force, reset or forget.
    Operation(Operation),
    /// The host is closed and opened again on the same store.
    Restart,
}
