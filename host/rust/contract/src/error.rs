use std::time::Duration;

use crate::store::StoreError;
use crate::types::{Error, PolicyFault, StorageError};

/// Why an operation on a breaker failed. It then changed nothing; with [`StoreError::InDoubt`] it may have.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BreakerError {
    /// The name of the dependency is empty, longer than 256 bytes, or holds a control character.
    #[error("the dependency name {dependency:?} is invalid: {why}")]
    InvalidDependency {
        /// The name as given; cut where it is long.
        dependency: String,
        /// What is wrong with it.
        why: String,
    },
    /// The policy has faults: all of them.
    #[error("the policy is invalid: {}", list_faults(.0))]
    InvalidPolicy(Vec<PolicyFault>),
    /// Another argument is out of range.
    #[error("{0}")]
    InvalidArgument(String),
    /// Other callers wrote the record each time before this operation could. Try again.
    #[error("the record of {dependency:?} is contended: other callers wrote it each time; try again")]
    Contended {
        /// The dependency.
        dependency: String,
    },
    /// The record was written by a later release; it is left alone.
    #[error("the record of {dependency:?} was written by a later release; update this program")]
    NewerVersion {
        /// The dependency.
        dependency: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The engine failed. It has been replaced; the next operation has a fresh one.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Something else.
    #[error("{0}")]
    Other(String),
}

impl BreakerError {
    /// The error of an operation on a dependency that the engine refused.
    pub fn refused(dependency: &str, error: Error) -> Self {
        let dependency = || dependency.chars().take(64).collect::<String>();
        let place = || format!("record of {:?}", dependency());
        match error {
            Error::InvalidDependency(why) => BreakerError::InvalidDependency { dependency: dependency(), why },
            Error::InvalidPolicy(faults) => BreakerError::InvalidPolicy(faults),
            Error::InvalidArgument(why) => BreakerError::InvalidArgument(why),
            Error::Contended => BreakerError::Contended { dependency: dependency() },
            Error::NewerVersion => BreakerError::NewerVersion { dependency: dependency() },
            Error::Storage(error) => BreakerError::Store(match error {
                StorageError::Unavailable(why) => StoreError::Unavailable { place: place(), why },
                StorageError::Denied(why) => StoreError::Denied { place: place(), why },
                StorageError::Corrupt(why) => StoreError::Corrupt { place: place(), why },
                StorageError::Other(why) => StoreError::Other { place: place(), why },
            }),
            Error::TooManyCalls(_) | Error::TooManyDependencies(_) => BreakerError::Engine(EngineError::Broken {
                why: "it answers with a limit, which only the platform of a tenant does".to_owned(),
            }),
            Error::Other(why) => BreakerError::Other(why),
        }
    }

    /// Whether the store is out of reach, so that a retry may succeed.
    pub fn is_outage(&self) -> bool {
        matches!(self, BreakerError::Store(error) if error.is_outage())
    }

    /// Whether the operation surely changed nothing, so that a retry does not do it twice. Not so where a thread panicked
    /// while it was writing, or where the store does not know.
    pub fn changed_nothing(&self) -> bool {
        !matches!(self, BreakerError::Other(_) | BreakerError::Store(StoreError::InDoubt { .. }))
    }
}

/// How an engine failed while it ran. A host replaces the component's instance, and the next operation works.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// It trapped.
    #[error("the component trapped: {why}")]
    Trapped {
        /// The trap.
        why: String,
    },
    /// It ran for longer than allowed, and was stopped.
    #[error("the component ran for longer than {} ms and was stopped", limit.as_millis())]
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// It needed more memory than allowed.
    #[error("the component needed more than {limit} bytes of memory")]
    OutOfMemory {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The system has no more of what an instance needs: open files, for one.
    #[error("the component could not be started: {why}")]
    Exhausted {
        /// What is short, and what to do.
        why: String,
    },
    /// The platform in whose store it ran stopped it: an epoch deadline, or fuel.
    #[error("the component was stopped by its platform: {why}")]
    Stopped {
        /// What stopped it.
        why: String,
    },
    /// The instance has failed before, or was left in the middle of a call, or something else in its wasmtime store has
    /// trapped: it cannot be entered any more. Only where a platform keeps the instance.
    #[error(
        "the wasmtime store in which the component runs has failed before and cannot be entered any more; make another"
    )]
    Spent,
    /// It broke the contract.
    #[error("the component broke the contract: {why}")]
    Broken {
        /// How.
        why: String,
    },
}

/// All faults of a policy in one line.
pub fn list_faults(faults: &[PolicyFault]) -> String {
    faults.iter().map(PolicyFault::to_string).collect::<Vec<_>>().join("; ")
}
