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

impl Request {
    /// Merges a later report on the same dependency into this one; returns false, and changes nothing, where no tally
    /// stands for both.
    pub fn merge(&mut self, later: &Request) -> bool {
        let (Some((permit, mut tally)), Some((of, later))) = (self.operation.as_tally(), later.operation.as_tally())
        else {
            return false;
        };
        let is_merged = permit == of && tally.merge(&later);
        if is_merged {
            self.operation = Operation::ReportTally { permit, tally };
        }
        is_merged
    }
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

    /// The same as a tally: a report without a lease, unless it needs the policy to tell whether the call was slow.
    fn as_tally(&self) -> Option<(Permit, Tally)> {
        match self {
            Operation::ReportTally { permit: permit @ Permit { lease: None, .. }, tally } => {
                Some((*permit, tally.clone()))
            }
            Operation::Report { permit: permit @ Permit { lease: None, .. }, report } if report.took.is_none() => {
                let (successes, failures) = match report.outcome {
                    Outcome::Success => (1, 0),
                    Outcome::Failure | Outcome::Timeout => (0, 1),
                    Outcome::Ignored => return None,
                };
                let Report { caller, cause, retry_after, .. } = report.clone();
                Some((*permit, Tally { successes, failures, caller, cause, retry_after, ..Tally::default() }))
            }
            _ => None,
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

#[cfg(test)]
mod tests;
