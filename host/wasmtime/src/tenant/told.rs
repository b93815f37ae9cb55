//! What a tenant is told: the contract's words, and nothing of the platform's own.

use crate::breaker::{self, millis};
use crate::error::{BreakerError, StoreError};
use crate::wire::{Admission, Decision, Error, Probe, StorageError};

/// An answer as plain numbers. From here on the tenant is answerable for the permit.
pub(super) fn decision(decision: breaker::Decision) -> Decision {
    match decision {
        breaker::Decision::Proceed(guard) => Decision::Proceed(Admission {
            fresh_for: millis(guard.fresh_for()),
            percent: guard.percent(),
            slower_than: guard.slower_than().map(millis),
            permit: guard.into_permit(),
        }),
        breaker::Decision::Probe(guard) => Decision::Probe(Probe {
            expires_in: guard.expires_in().map_or(0, millis),
            slower_than: guard.slower_than().map(millis),
            permit: guard.into_permit(),
        }),
        breaker::Decision::Defer(deferral) => Decision::Defer(deferral),
    }
}

/// An error, without what is the platform's own affair.
pub(super) fn error(error: BreakerError) -> Error {
    match error {
        BreakerError::InvalidDependency { why, .. } => Error::InvalidDependency(why),
        BreakerError::InvalidPolicy(faults) => Error::InvalidPolicy(faults),
        BreakerError::InvalidArgument(why) => Error::InvalidArgument(why),
        BreakerError::Contended { .. } => Error::Contended,
        BreakerError::NewerVersion { .. } => Error::NewerVersion,
        BreakerError::Store(error) => store(&error),
        BreakerError::Component(_) | BreakerError::Other(_) => {
            Error::Other("the platform's breaker failed; try again later".to_owned())
        }
    }
}

pub(super) fn store(error: &StoreError) -> Error {
    Error::Storage(match error {
        StoreError::Unavailable { .. } => {
            StorageError::Unavailable("the platform's store is not available; try again later".to_owned())
        }
        StoreError::Denied { .. } => StorageError::Denied("the platform's store refuses".to_owned()),
        StoreError::Corrupt { .. } => {
            StorageError::Corrupt("the record is damaged; it can be reset or forgotten".to_owned())
        }
        StoreError::Newer { .. } => {
            StorageError::Other("the platform's store was written by a later release".to_owned())
        }
        StoreError::InDoubt { .. } => {
            StorageError::Other("whether the platform's store did this is not known".to_owned())
        }
        StoreError::Other { .. } => StorageError::Other("the platform's store failed".to_owned()),
    })
}
