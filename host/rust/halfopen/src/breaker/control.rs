use std::time::Duration;

use halfopen_contract::documents::{EffectivePolicy, Inspection, InvalidDocument, Policy, Transition};
use halfopen_contract::engine::{Answer, Operation};
use halfopen_contract::store::{Key, StoreError};
use halfopen_contract::types::{Mode, Operator, Receipt, millis};
use halfopen_contract::{BreakerError, EngineError};

use super::handle::{Breaker, mismatch};

impl Breaker {
    /// Shows the dependency. It changes nothing and takes no lease; the successes that are counted in memory are flushed
    /// before.
    pub fn inspect(&self) -> Result<Inspection, BreakerError> {
        self.flush();
        let settled = self.run(Operation::Inspect)?;
        let Answer::Inspection(json) = &settled.answer else { return Err(mismatch(&settled.answer)) };
        let inspection: Inspection = json.parse().map_err(broken)?;
        if let Some(local) = &self.handle.local {
            self.report_successes(local.learn_epoch(inspection.epoch, settled.version));
        }
        Ok(inspection)
    }

    /// The policy of the dependency, and whose it is.
    pub fn policy(&self) -> Result<EffectivePolicy, BreakerError> {
        match self.run(Operation::Policy)?.answer {
            Answer::Policy(in_force) => in_force.try_into().map_err(broken),
            other => Err(mismatch(&other)),
        }
    }

    /// Gives the dependency a policy of its own. The state is kept.
    ///
    /// # Errors
    /// [`BreakerError`]; [`InvalidPolicy`](BreakerError::InvalidPolicy) names all faults at once.
    pub fn configure(&self, policy: &Policy, note: &str) -> Result<Receipt, BreakerError> {
        let policy = Some(policy.to_string().into());
        self.act(Operation::Configure { policy, operator: self.operator_with(note) })
    }

    /// Gives the dependency the host's default policy again. The state is kept.
    pub fn unset_policy(&self, note: &str) -> Result<Receipt, BreakerError> {
        self.act(Operation::Configure { policy: None, operator: self.operator_with(note) })
    }

    /// Forces a state, or takes an override back. With `lasting` the override ends by itself after that time.
    pub fn force(&self, mode: Mode, lasting: Option<Duration>, note: &str) -> Result<Receipt, BreakerError> {
        self.act(Operation::Force { mode, lasting: lasting.map(millis), operator: self.operator_with(note) })
    }

    /// Closes the breaker and removes its past; the policy stays. It also mends a damaged record.
    pub fn reset(&self, note: &str) -> Result<Receipt, BreakerError> {
        self.act(Operation::Reset { operator: self.operator_with(note) })
    }

    /// Removes the record, its history and its policy. Permits that are out stay stale. It also removes a damaged record.
    pub fn forget(&self, note: &str) -> Result<Receipt, BreakerError> {
        self.act(Operation::Forget { operator: self.operator_with(note) })
    }

    /// Removes the record if it is no longer needed, and returns whether it did: only while it is closed, with nothing forced
    /// and no policy of its own, and only if nothing was written to it for the given time. Permits that are out stay stale.
    pub fn prune(&self, idle: Duration) -> Result<bool, BreakerError> {
        self.flush();
        match self.run(Operation::Prune { idle: millis(idle), operator: self.operator_with("") })?.answer {
            Answer::Pruned(removed) => Ok(removed),
            other => Err(mismatch(&other)),
        }
    }

    /// The newest transitions, at most `limit`, oldest first.
    pub fn history(&self, limit: usize) -> Result<Vec<Transition>, StoreError> {
        let inner = &self.handle.inner;
        let key = Key { namespace: inner.namespace(), dependency: self.dependency() };
        let history = inner.runner.executor.records.store.history(key, limit)?;
        history.iter().map(|json| parse_transition(self.dependency(), json)).collect()
    }

    fn operator_with(&self, note: &str) -> Operator {
        Operator::new(&*self.handle.operator, note)
    }

    /// An operator's act: the successes that are counted in memory come before it, and it ends the cached decision.
    pub(super) fn act(&self, operation: Operation) -> Result<Receipt, BreakerError> {
        self.flush();
        let result = self.receipt(operation);
        self.report_successes(self.handle.local.as_ref().and_then(|local| local.end()));
        result
    }
}

/// The error for an engine that answers with another document.
fn broken(error: InvalidDocument) -> BreakerError {
    EngineError::Broken { why: error.to_string() }.into()
}

/// A transition as a store keeps it.
pub(crate) fn parse_transition(dependency: &str, json: &str) -> Result<Transition, StoreError> {
    json.parse().map_err(|error: InvalidDocument| StoreError::Corrupt {
        place: format!("history of {dependency:?}"),
        why: error.to_string(),
    })
}
