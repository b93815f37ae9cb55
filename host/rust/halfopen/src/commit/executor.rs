use std::sync::Arc;

use halfopen_contract::BreakerError;
use halfopen_contract::cas::{CommitResult, PendingWrite, Records};
use halfopen_contract::engine::{Engine, Evaluation, Input, Operation, ProposedWrite, Request};
use halfopen_contract::entropy::Entropy;
use halfopen_contract::store::{Snapshot, Store, StoreError};
use halfopen_contract::time::Clock;

/// The single steps of an operation: load, evaluate, commit.
#[derive(Clone)]
pub(crate) struct Executor {
    pub store: Arc<dyn Store>,
    pub engine: Arc<dyn Engine>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<Entropy>,
    pub namespace: Arc<str>,
    /// The number of transitions of each record to keep, at most.
    pub history: usize,
}

impl Executor {
    /// The records of the namespace.
    pub fn records(&self) -> Records<'_> {
        Records { store: &*self.store, namespace: &self.namespace, history: self.history }
    }

    /// Loads the record of a request.
    pub fn load(&self, request: &Request) -> Result<Snapshot, StoreError> {
        self.records().load(request)
    }

    /// Evaluates a request on its record. A lease that is too short for the store's clocks is refused.
    pub fn evaluate(&self, request: &Request, snapshot: &Snapshot) -> Result<Evaluation, BreakerError> {
        // Read after the load: a record is never dated after the time that it is judged by.
        let now = snapshot.at.unwrap_or_else(|| self.clock.now());
        let evaluate = |request: &Request, snapshot: &Snapshot| {
            self.engine.evaluate(&Input { request, snapshot, now, entropy: &self.entropy })
        };
        let evaluation = evaluate(request, snapshot)?;
        let policy_of = |write: &ProposedWrite| {
            let request = Request { dependency: request.dependency.clone(), operation: Operation::Policy };
            evaluate(&request, &Snapshot { data: write.data.clone(), ..snapshot.clone() })
        };
        self.records().check_lease(request, &evaluation, policy_of)?;
        Ok(evaluation)
    }

    /// Commits a write, if the record is still the one that it rests on.
    pub fn commit(&self, request: &Request, pending: PendingWrite) -> CommitResult {
        self.records().commit(request, pending)
    }
}
