use std::sync::Arc;

use halfopen_contract::BreakerError;
use halfopen_contract::cas::Records;
use halfopen_contract::engine::{Engine, Evaluation, Input, Request};
use halfopen_contract::entropy::Entropy;
use halfopen_contract::store::Snapshot;
use halfopen_contract::time::Clock;

/// The parts that the single steps of an operation need: load, evaluate, commit.
#[derive(Clone)]
pub(crate) struct Executor {
    pub records: Records,
    pub engine: Arc<dyn Engine>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<Entropy>,
}

impl Executor {
    /// Evaluates a request on its record. A lease that is too short for the store's clocks is refused.
    pub fn evaluate(&self, request: &Request, snapshot: &Snapshot) -> Result<Evaluation, BreakerError> {
        // Read after the load: a record is never dated after the time that it is judged by.
        let now = snapshot.at.unwrap_or_else(|| self.clock.now());
        let input = Input { request, snapshot, now, entropy: &self.entropy };
        let evaluation = self.engine.evaluate(&input)?;
        let policy = match self.records.policy_check(request, &evaluation) {
            Some((request, snapshot)) => {
                let input = Input { request: &request, snapshot: &snapshot, ..input };
                Some(self.engine.evaluate(&input)?.answer)
            }
            None => None,
        };
        self.records.check_lease(&evaluation.answer, policy.as_ref())?;
        Ok(evaluation)
    }
}
