//! Responses in place of those that the inner service did not give.

use crate::error::CallError;

/// Responds to a call that has no response: it was deferred, cut off, failed, or the breaker could not decide.
pub trait Respond<Response, Error> {
    /// The error of the service with its breaker.
    type Error;

    /// A response in place of the missing one, or an error.
    ///
    /// # Errors
    /// The error of the service with its breaker.
    fn respond(&self, error: CallError<Error>) -> Result<Response, Self::Error>;
}

/// The error itself: a deferral is [`CallError::Deferred`], with `retry_after`. The default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AsError;

impl<Response, Error> Respond<Response, Error> for AsError {
    type Error = CallError<Error>;

    fn respond(&self, error: CallError<Error>) -> Result<Response, Self::Error> {
        Err(error)
    }
}
