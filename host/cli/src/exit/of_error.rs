//! The exit code for an error.

use std::io;

use halfopen::{BreakerError, ComponentError, EngineError, OpenError, StoreError};

use super::code::Code;
use super::failure::Failure;

/// The exit code for an error: that of the first error in the chain which has one.
pub fn code_of(error: &anyhow::Error) -> Code {
    error.chain().find_map(code_of_one).unwrap_or(Code::Internal)
}

fn code_of_one(error: &(dyn std::error::Error + 'static)) -> Option<Code> {
    if let Some(failure) = error.downcast_ref::<Failure>() {
        Some(failure.code)
    } else if let Some(error) = error.downcast_ref::<BreakerError>() {
        Some(of_breaker(error))
    } else if let Some(error) = error.downcast_ref::<OpenError>() {
        Some(of_open(error))
    } else if let Some(error) = error.downcast_ref::<ComponentError>() {
        Some(of_component(error))
    } else if let Some(error) = error.downcast_ref::<StoreError>() {
        Some(of_store(error))
    } else {
        error.downcast_ref::<io::Error>().map(of_io)
    }
}

fn of_breaker(error: &BreakerError) -> Code {
    match error {
        BreakerError::InvalidDependency { .. } | BreakerError::InvalidArgument(_) => Code::Usage,
        BreakerError::InvalidPolicy(_) => Code::Data,
        BreakerError::Contended { .. } => Code::Unavailable,
        BreakerError::NewerVersion { .. } => Code::Config,
        BreakerError::Store(error) => of_store(error),
        BreakerError::Engine(EngineError::Exhausted { .. }) => Code::Unavailable,
        _ => Code::Internal,
    }
}

/// The exit code for a host that cannot be opened.
pub fn of_open(error: &OpenError) -> Code {
    match error {
        OpenError::Address(_) => Code::Usage,
        OpenError::Store(error) => of_store(error),
        OpenError::Component(error) => of_component(error),
        OpenError::InvalidPolicy(_) => Code::Data,
        OpenError::Engine(EngineError::Exhausted { .. }) => Code::Unavailable,
        // Before its first operation: the component is at fault.
        OpenError::Engine(_) => Code::Data,
        _ => Code::Internal,
    }
}

fn of_component(error: &ComponentError) -> Code {
    match error {
        ComponentError::Unreadable { .. } => Code::NoInput,
        ComponentError::OtherHash { .. } => Code::Denied,
        ComponentError::InvalidPin { .. } => Code::Usage,
        ComponentError::Engine { .. } => Code::Config,
        _ => Code::Data,
    }
}

/// The exit code for a store that failed.
pub fn of_store(error: &StoreError) -> Code {
    match error {
        StoreError::Unavailable { .. } => Code::Unavailable,
        StoreError::Denied { .. } => Code::Denied,
        StoreError::Corrupt { .. } => Code::Data,
        StoreError::Newer { .. } => Code::Config,
        _ => Code::Io,
    }
}

fn of_io(error: &io::Error) -> Code {
    if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) {
        return Code::Unavailable;
    }
    match error.kind() {
        io::ErrorKind::NotFound => Code::NoInput,
        io::ErrorKind::PermissionDenied => Code::Denied,
        _ => Code::Io,
    }
}

#[cfg(test)]
mod tests;
