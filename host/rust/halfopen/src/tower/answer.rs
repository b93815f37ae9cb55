//! What callers get who have no response of the inner service.

use crate::error::CallError;

/// What becomes of a call that has no response: it was deferred, cut off, failed, or the breaker could not be asked.
pub trait Answer<Response, Error> {
    /// The error of the service with its breaker.
    type Error;

    /// A response in place of the missing one, or an error.
    ///
    /// # Errors
    /// What the callers of the service get.
    fn answer(&self, error: CallError<Error>) -> Result<Response, Self::Error>;
}

/// The error itself: a deferral is [`CallError::Deferred`], with `retry_after`. The default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AsError;

impl<Response, Error> Answer<Response, Error> for AsError {
    type Error = CallError<Error>;

    fn answer(&self, error: CallError<Error>) -> Result<Response, Self::Error> {
        Err(error)
    }
}
