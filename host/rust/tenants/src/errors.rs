//! The errors of a tenant: in the contract's words, without anything of the platform's own.

use halfopen::{BreakerError, StoreError};
use halfopen_contract::types::{Error, StorageError};

/// The error of a breaker that has failed.
pub(crate) fn failed() -> Error {
    Error::Other("the platform's breaker failed; try again later".to_owned())
}

/// An error in the contract's words.
pub(crate) fn error(error: BreakerError) -> Error {
    match error {
        BreakerError::InvalidDependency { why, .. } => Error::InvalidDependency(why),
        BreakerError::InvalidPolicy(faults) => Error::InvalidPolicy(faults),
        BreakerError::InvalidArgument(why) => Error::InvalidArgument(why),
        BreakerError::Contended { .. } => Error::Contended,
        BreakerError::NewerVersion { .. } => Error::NewerVersion,
        BreakerError::Store(error) => store(&error),
        _ => failed(),
    }
}

/// An error of the store in the contract's words.
pub(crate) fn store(error: &StoreError) -> Error {
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
        _ => StorageError::Other("the platform's store failed".to_owned()),
    })
}

#[cfg(test)]
mod tests;
