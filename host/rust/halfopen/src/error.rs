//! The errors of a host; those of an operation are in `halfopen-contract`.

use std::time::Duration;

#[cfg(feature = "component")]
use halfopen_component::{ComponentEngineError, ComponentError};
use halfopen_contract::store::{self, AddressError, StoreError};
use halfopen_contract::types::{Deferral, PolicyFault};
use halfopen_contract::{BreakerError, EngineError, list_faults};

/// Why a host could not be opened. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The address names no store of this build.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The store could not be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The component cannot be used.
    #[cfg(feature = "component")]
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The engine failed while it was set up.
    #[error("the engine could not be set up: {0}")]
    Engine(EngineError),
    /// The default policy has faults: all of them.
    #[error("the default policy is invalid: {}", list_faults(.0))]
    InvalidPolicy(Vec<PolicyFault>),
}

impl From<store::OpenError> for OpenError {
    fn from(error: store::OpenError) -> Self {
        match error {
            store::OpenError::Address(error) => OpenError::Address(error),
            store::OpenError::Store(error) => OpenError::Store(error),
            other => OpenError::Store(StoreError::Other { place: "store".to_owned(), why: other.to_string() }),
        }
    }
}

#[cfg(feature = "component")]
impl From<ComponentEngineError> for OpenError {
    fn from(error: ComponentEngineError) -> Self {
        match error {
            ComponentEngineError::Component(error) => OpenError::Component(error),
            ComponentEngineError::InvalidPolicy(faults) => OpenError::InvalidPolicy(faults),
            ComponentEngineError::Engine(error) => OpenError::Engine(error),
        }
    }
}

impl From<BreakerError> for OpenError {
    /// The error of an engine that could not be made.
    fn from(error: BreakerError) -> Self {
        match error {
            BreakerError::InvalidPolicy(faults) => OpenError::InvalidPolicy(faults),
            BreakerError::Store(error) => OpenError::Store(error),
            BreakerError::Engine(error) => OpenError::Engine(error),
            other => OpenError::Engine(EngineError::Broken { why: other.to_string() }),
        }
    }
}

/// Why a call through a breaker has no value.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError<E> {
    /// The call was not made.
    #[error("{0}")]
    Deferred(Deferral),
    /// The call ran into the time limit and was cut off. It was reported as a timeout.
    #[error("the call ran into its time limit of {} ms", .0.as_millis())]
    TimedOut(Duration),
    /// The call was made and failed; its own error.
    #[error("{0}")]
    Failed(E),
    /// The breaker could not decide, and the call was not made.
    #[error(transparent)]
    Breaker(#[from] BreakerError),
}
