use std::sync::Arc;

use crate::types::{Decision, Mode, Operator, Outcome, Permit, PolicyInForce, Receipt, Report, Tally};

/// An operation on a dependency. It is plain data, so that it can wait in a queue and be evaluated again.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The dependency.
    pub dependency: Arc<str>,
    /// The operation.
    pub operation: Operation,
}

/// A function of the exported interfaces, with its arguments.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the arguments are documented in wit/breaker.wit and wit/control.wit")]
pub enum Operation {
    /// Decides whether a call may be made.
    Acquire { caller: Arc<str> },
    /// Reports the outcome of a call.
    Report { permit: Permit, report: Report },
    /// Reports the outcomes of many closed-state calls.
    ReportTally { permit: Permit, tally: Tally },
    /// Lets a lease start anew.
    Renew { permit: Permit },
    /// Gives a permit back unused.
    Release { permit: Permit },
    /// Shows the dependency.
    Inspect,
    /// Shows the policy.
    Policy,
    /// Gives the dependency a policy of its own, or with none the host's default.
    Configure { policy: Option<Arc<str>>, operator: Operator },
    /// Forces a state, or takes an override back.
    Force { mode: Mode, lasting: Option<u64>, operator: Operator },
    /// Closes the breaker and forgets its past.
    Reset { operator: Operator },
    /// Removes the record.
    Forget { operator: Operator },
    /// Removes the record if nothing was written to it for `idle` ms.
    Prune { idle: u64, operator: Operator },
}

impl Operation {
    /// Whether it writes unless its result is stale.
    pub fn nearly_always_writes(&self) -> bool {
        match self {
            Operation::Report { report, .. } => report.outcome != Outcome::Ignored,
            Operation::ReportTally { .. } => true,
            _ => false,
        }
    }

    /// Whether it speaks of something that has happened already: a report, a renewal or a release.
    pub fn is_report(&self) -> bool {
        use Operation::{Release, Renew, Report, ReportTally};
        matches!(self, Report { .. } | ReportTally { .. } | Renew { .. } | Release { .. })
    }
}

/// The answer to an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To `acquire`.
    Decision(Decision),
    /// To a report, a renewal, a release and an operator's act.
    Receipt(Receipt),
    /// To `inspect`: JSON.
    Inspection(String),
    /// To `policy`.
    Policy(PolicyInForce),
    /// To `prune`: whether the record was removed.
    Pruned(bool),
}
