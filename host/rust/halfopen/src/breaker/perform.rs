use halfopen_contract::BreakerError;
use halfopen_contract::engine::{Answer, Operation};
use halfopen_contract::types::{self, Admission, Probe, millis};

use super::acquire::Decision;
use super::handle::Breaker;

impl Breaker {
    /// Performs an operation, and returns its answer in the contract's own form: for a program that passes on the operations of
    /// others. The typed operations of this handle do the same.
    ///
    /// A permit in the answer is not given back by itself.
    pub fn perform(&self, operation: Operation) -> Result<Answer, BreakerError> {
        match operation {
            Operation::Acquire { caller } => {
                self.clone().caller(&*caller).acquire().map(|decision| Answer::Decision(decision.into_plain()))
            }
            Operation::Report { permit, report } => self.report(permit, report).map(Answer::Receipt),
            Operation::ReportTally { permit, tally } => self.report_tally(permit, tally).map(Answer::Receipt),
            Operation::Renew { permit } => self.renew(permit).map(Answer::Receipt),
            Operation::Release { permit } => self.release(permit).map(Answer::Receipt),
            Operation::Inspect | Operation::Policy | Operation::Prune { .. } => {
                self.flush();
                Ok(self.run(operation)?.answer)
            }
            Operation::Configure { .. }
            | Operation::Force { .. }
            | Operation::Reset { .. }
            | Operation::Forget { .. } => self.act(operation).map(Answer::Receipt),
        }
    }
}

impl Decision {
    /// The decision as plain data. Its permit is not given back by itself.
    pub fn into_plain(self) -> types::Decision {
        match self {
            Decision::Proceed(guard) => types::Decision::Proceed(Admission {
                fresh_for: millis(guard.fresh_for()),
                percent: guard.percent(),
                slower_than: guard.slower_than().map(millis),
                permit: guard.into_permit(),
            }),
            Decision::Probe(guard) => types::Decision::Probe(Probe {
                expires_in: guard.expires_in().map_or(0, millis),
                slower_than: guard.slower_than().map(millis),
                permit: guard.into_permit(),
            }),
            Decision::Defer(deferral) => types::Decision::Defer(deferral),
        }
    }
}
