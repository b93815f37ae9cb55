use std::sync::Arc;

use crate::engine::{Answer, Evaluation, Operation, ProposedWrite, Request};
use crate::error::BreakerError;
use crate::store::{CommitOutcome, Key, Snapshot, Store, StoreError, Write};
use crate::types::{Decision, PolicyFault};

/// The records of a namespace.
#[derive(Clone)]
pub struct Records {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The namespace.
    pub namespace: Arc<str>,
    /// The number of transitions of each record to keep, at most.
    pub history: usize,
}

/// The result of an operation that is done: its answer is durable.
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// The answer.
    pub answer: Answer,
    /// The version of the record after it.
    pub version: u64,
    /// The transitions that it committed, as JSON.
    pub transitions: Vec<String>,
}

/// A write that is evaluated and not yet committed.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingWrite {
    /// The snapshot that the evaluation rests on.
    pub snapshot: Snapshot,
    /// The answer, once the write is durable.
    pub answer: Answer,
    /// The write.
    pub write: ProposedWrite,
}

/// The result of a commit.
#[derive(Clone, Debug)]
pub enum CommitResult {
    /// The operation is done, or has failed.
    Settled(Result<Settled, BreakerError>),
    /// The race for the record is lost: the record as it is now, where that is known.
    Lost(Option<Snapshot>),
}

impl PendingWrite {
    /// The version of the record once the write is committed; none where there is no higher one.
    pub fn version(&self) -> Option<u64> {
        self.snapshot.version.checked_add(self.write.commits)
    }

    /// The write as a store takes it.
    pub fn as_write<'b>(&'b self, key: Key<'b>, history: usize) -> Result<Write<'b>, BreakerError> {
        let version = self.version().ok_or_else(|| {
            BreakerError::Store(StoreError::Corrupt {
                place: format!("record of {:?}", key.dependency),
                why: "the store gives it a version above which there is none".to_owned(),
            })
        })?;
        Ok(Write {
            key,
            based_on: self.snapshot.version,
            version,
            data: self.write.data.as_deref(),
            transitions: &self.write.transitions,
            history,
        })
    }

    /// The result once the write is durable.
    pub fn into_settled(self) -> Settled {
        let version = self.version().unwrap_or(u64::MAX);
        Settled { answer: self.answer, version, transitions: self.write.transitions }
    }
}

impl Records {
    /// The key of a request's record.
    pub fn key<'b>(&'b self, request: &'b Request) -> Key<'b> {
        Key { namespace: &self.namespace, dependency: &request.dependency }
    }

    /// Loads the record of a request.
    ///
    /// # Errors
    /// Those of the store.
    pub fn load(&self, request: &Request) -> Result<Snapshot, StoreError> {
        self.store.load(self.key(request))
    }

    /// Commits a write, if the record is still the one that it rests on.
    pub fn commit(&self, request: &Request, pending: PendingWrite) -> CommitResult {
        let outcomes = match pending.as_write(self.key(request), self.history) {
            Ok(write) => self.store.commit(&[write]),
            Err(error) => return CommitResult::Settled(Err(error)),
        };
        match outcomes.map(|mut outcomes| outcomes.pop()) {
            Ok(Some(CommitOutcome::Committed)) => CommitResult::Settled(Ok(pending.into_settled())),
            Ok(Some(CommitOutcome::Stale(present))) => CommitResult::Lost(Some(present)),
            Ok(None) => CommitResult::Lost(None),
            Err(error) => CommitResult::Settled(Err(error.into())),
        }
    }

    /// The request that shows the policy which an operation is about to configure, and the record to evaluate it on.
    pub fn policy_check(&self, request: &Request, evaluation: &Evaluation) -> Option<(Request, Snapshot)> {
        let (Operation::Configure { policy: Some(_), .. }, Some(write)) = (&request.operation, &evaluation.write)
        else {
            return None;
        };
        let request = Request { dependency: request.dependency.clone(), operation: Operation::Policy };
        Some((request, Snapshot { data: write.data.clone(), ..Snapshot::default() }))
    }

    /// Refuses a lease, or a policy with a lease, that is shorter than twice the skew of the store's clocks: two callers
    /// could hold it at once. `policy` is the answer to the [`policy_check`](Records::policy_check), where there is one.
    ///
    /// The skew is read each time: a store that is opened later knows it later.
    ///
    /// # Errors
    /// [`BreakerError::InvalidPolicy`].
    pub fn check_lease(&self, answer: &Answer, policy: Option<&Answer>) -> Result<(), BreakerError> {
        let Some(skew) = self.store.max_skew() else { return Ok(()) };
        let lease_ms = match (answer, policy) {
            (_, Some(Answer::Policy(in_force))) => lease_of(&in_force.policy),
            (Answer::Decision(Decision::Probe(probe)), _) => Some(probe.expires_in),
            _ => None,
        };
        match lease_ms.and_then(|lease_ms| lease_fault(lease_ms, skew)) {
            Some(fault) => Err(BreakerError::InvalidPolicy(vec![fault])),
            None => Ok(()),
        }
    }

    /// The fault of a default policy whose leases are too short for the store's clocks.
    pub fn default_policy_fault(&self, policy: &str) -> Option<PolicyFault> {
        lease_fault(lease_of(policy)?, self.store.max_skew()?)
    }
}

fn lease_of(policy: &str) -> Option<u64> {
    let policy: crate::documents::Policy = policy.parse().ok()?;
    policy.get("lease_ms")?.as_u64()
}

fn lease_fault(lease_ms: u64, skew: std::time::Duration) -> Option<PolicyFault> {
    let skew = skew.as_millis();
    (u128::from(lease_ms) < 2 * skew).then(|| PolicyFault {
        field: "lease_ms".to_owned(),
        why: format!(
            "is {lease_ms}, below {}: twice the {skew} ms that the clocks of this store may be apart; give a longer \
             lease, or the store a smaller bound",
            2 * skew
        ),
    })
}
