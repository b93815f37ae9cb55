//! An exported call as a value, so that it can wait in a queue and be run again.

use std::sync::Arc;

use crate::error::{BreakerError, StoreError};
use crate::wire::{self, Mode, Outcome, Permit, Policy, Tally};

/// An exported call on one dependency.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub dependency: Arc<str>,
    pub call: Call,
}

#[derive(Clone, Debug)]
pub(crate) enum Call {
    Acquire { caller: Arc<str> },
    Report { permit: Permit, outcome: Outcome, took: Option<u64> },
    ReportTally { permit: Permit, tally: Tally },
    Renew { permit: Permit },
    Release { permit: Permit },
    Inspect,
    Policy,
    Configure { policy: Box<Policy> },
    Force { mode: Mode, lasting: Option<u64>, note: Box<str> },
    Reset,
    Forget,
    Prune { idle: u64 },
}

impl Call {
    /// Whether it writes unless its result is stale.
    pub fn nearly_always_writes(&self) -> bool {
        match self {
            Call::Report { outcome, .. } => *outcome != Outcome::Ignored,
            Call::ReportTally { .. } => true,
            _ => false,
        }
    }
}

/// What an exported call answered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Decision(wire::Decision),
    Receipt(wire::Receipt),
    Inspection(wire::Inspection),
    Policy(wire::PolicyInForce),
    Pruned(bool),
}

impl Op {
    /// What the component's error means to the caller of this operation.
    pub fn explain(&self, error: wire::Error) -> BreakerError {
        let dependency = || self.dependency.chars().take(64).collect::<String>();
        let place = || format!("record of {:?}", dependency());
        match error {
            wire::Error::InvalidDependency(why) => BreakerError::InvalidDependency { dependency: dependency(), why },
            wire::Error::InvalidPolicy(faults) => BreakerError::InvalidPolicy(faults),
            wire::Error::InvalidArgument(why) => BreakerError::InvalidArgument(why),
            wire::Error::Contended => BreakerError::Contended { dependency: dependency() },
            wire::Error::NewerVersion => BreakerError::NewerVersion { dependency: dependency() },
            wire::Error::Storage(error) => BreakerError::Store(match error {
                wire::StorageError::Unavailable(why) => StoreError::Unavailable { place: place(), why },
                wire::StorageError::Denied(why) => StoreError::Denied { place: place(), why },
                wire::StorageError::Corrupt(why) => StoreError::Corrupt { place: place(), why },
                wire::StorageError::Other(why) => StoreError::Other { place: place(), why },
            }),
            wire::Error::TooManyCalls(_) | wire::Error::TooManyDependencies(_) => BreakerError::Other(
                "the component answers with a limit, which only the platform of a tenant does".to_owned(),
            ),
            wire::Error::Other(why) => BreakerError::Other(why),
        }
    }
}
