//! The expectations of steps: how a file writes them, whether an answer fits, how messages name them.

mod amount;
mod decision;
mod inspection;
mod receipt;

pub use decision::{ExpectedDecision, Kind, decision_text};
pub use inspection::{ExpectedInspection, inspection_text};
pub use receipt::{ExpectedReceipt, receipt_text};

use halfopen_contract::BreakerError;
use halfopen_contract::store::StoreError;

/// An answer, or a refusal that the expectation judges.
pub type Answered<T> = Result<T, Refusal>;

/// A call that failed, through no fault of the store.
#[derive(Debug)]
pub struct Refusal {
    /// The error, in words.
    pub text: String,
    /// Whether the rules refused the call. Otherwise the engine failed, which no file expects.
    pub by_rules: bool,
}

impl Refusal {
    /// Tells a failed store, which ends a run, from all other errors.
    pub fn from_error(error: BreakerError) -> Result<Refusal, StoreError> {
        match error {
            BreakerError::Store(error) => Err(error),
            error @ BreakerError::Engine(_) => Ok(Refusal { text: error.to_string(), by_rules: false }),
            error => Ok(Refusal { text: format!("error: {error}"), by_rules: true }),
        }
    }
}

/// The text of an answer or a refusal.
fn text_of<T>(answer: &Answered<T>, text: impl FnOnce(&T) -> String) -> String {
    match answer {
        Ok(answer) => text(answer),
        Err(refusal) => refusal.text.clone(),
    }
}
