use halfopen_contract::types::{Receipt, Verdict};

use super::{Answered, text_of};
use crate::json::{Raw, one_of};

/// The expectation of a report, tally, renew or release step, of its last answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedVerdict {
    Applied,
    Stale,
    Error,
}

impl ExpectedVerdict {
    pub fn read(key: &str, raw: &Raw) -> Result<Self, String> {
        let all = [ExpectedVerdict::Applied, ExpectedVerdict::Stale, ExpectedVerdict::Error];
        one_of(key, raw, &all.map(|expected| (expected.name(), expected)))
    }

    pub fn name(self) -> &'static str {
        match self {
            ExpectedVerdict::Applied => "applied",
            ExpectedVerdict::Stale => "stale",
            ExpectedVerdict::Error => "error",
        }
    }

    /// Whether an answer fits. Of the answers before the last, only a refusal can be wrong.
    pub fn fits(expected: Option<Self>, answer: &Answered<Receipt>, is_last: bool) -> bool {
        match (answer, expected) {
            (Err(refusal), Some(ExpectedVerdict::Error)) => refusal.by_rules,
            (Err(_), _) => false,
            (Ok(_), None) => true,
            (Ok(_), Some(_)) if !is_last => true,
            (Ok(receipt), Some(ExpectedVerdict::Applied)) => receipt.is_applied(),
            (Ok(receipt), Some(ExpectedVerdict::Stale)) => !receipt.is_applied(),
            (Ok(_), Some(ExpectedVerdict::Error)) => false,
        }
    }
}

/// The expectation of a control step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpectedControl {
    #[default]
    Ok,
    Error,
}

impl ExpectedControl {
    pub fn read(key: &str, raw: &Raw) -> Result<Self, String> {
        let all = [ExpectedControl::Ok, ExpectedControl::Error];
        one_of(key, raw, &all.map(|expected| (expected.name(), expected)))
    }

    pub fn name(self) -> &'static str {
        match self {
            ExpectedControl::Ok => "ok",
            ExpectedControl::Error => "error",
        }
    }

    /// Whether an answer fits.
    pub fn fits<T>(self, answer: &Answered<T>) -> bool {
        match answer {
            Ok(_) => self == ExpectedControl::Ok,
            Err(refusal) => self == ExpectedControl::Error && refusal.by_rules,
        }
    }
}

/// The text of an answer to a report, tally, renew or release step.
pub fn receipt_text(answer: &Answered<Receipt>) -> String {
    text_of(answer, |receipt| match &receipt.verdict {
        Verdict::Applied => format!("applied; {}", receipt.state),
        Verdict::Stale(reason) => format!("stale, {reason}; {}", receipt.state),
    })
}
