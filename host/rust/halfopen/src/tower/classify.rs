//! The judgement of results.

use halfopen_contract::types::Outcome;

/// Judges what the result of a call says about the dependency. Closures that do so implement it.
pub trait Classify<Response, Error> {
    /// The outcome to report.
    fn classify(&self, result: &Result<Response, Error>) -> Outcome;
}

impl<Response, Error, F> Classify<Response, Error> for F
where
    F: Fn(&Result<Response, Error>) -> Outcome,
{
    fn classify(&self, result: &Result<Response, Error>) -> Outcome {
        self(result)
    }
}

/// `Err` is a failure, and any response a success. The default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ErrIsFailure;

impl<Response, Error> Classify<Response, Error> for ErrIsFailure {
    fn classify(&self, result: &Result<Response, Error>) -> Outcome {
        match result {
            Ok(_) => Outcome::Success,
            Err(_) => Outcome::Failure,
        }
    }
}
