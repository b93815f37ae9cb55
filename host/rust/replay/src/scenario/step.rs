use std::sync::Arc;

use halfopen_contract::engine::Operation;
use halfopen_contract::types::{Permit, Report, State, Tally};

use crate::expect::{ExpectedDecision, ExpectedInspection, ExpectedReceipt};

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
    Acquire {
        keep_as: String,
        times: u64,
        expect: Option<ExpectedDecision>,
    },
    Operate {
        operate: Operate,
        times: u64,
        expect: ExpectedReceipt,
    },
    Inspect {
        expect: Option<ExpectedInspection>,
    },
    /// The host is closed and opened again on the same store.
    Restart {
        expect: ExpectedReceipt,
    },
}

/// An operation that is answered with a receipt.
#[derive(Clone, Debug)]
pub enum Operate {
    /// An act of an operator.
    Control(Operation),
    /// An operation under the permit that is kept under this name.
    WithPermit(String, Settlement),
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
