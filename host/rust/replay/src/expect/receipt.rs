use halfopen_contract::types::{Receipt, Verdict};

use super::{Answered, text_of};
use crate::json::{Raw, one_of};

/// The expectation of a step that is answered with a receipt; of several answers, the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedReceipt {
    /// The call is not refused.
    Ok,
    Applied,
    Stale,
    Error,
}

impl ExpectedReceipt {
    /// That of a report, tally, renew or release step.
    pub fn read_verdict(key: &str, raw: &Raw) -> Result<Self, String> {
        Self::one_of(key, raw, [Self::Applied, Self::Stale, Self::Error])
    }

    /// That of a control step.
    pub fn read_control(key: &str, raw: &Raw) -> Result<Self, String> {
        Self::one_of(key, raw, [Self::Ok, Self::Error])
    }

    fn one_of<const N: usize>(key: &str, raw: &Raw, all: [Self; N]) -> Result<Self, String> {
        one_of(key, raw, &all.map(|expected| (expected.name(), expected)))
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Applied => "applied",
            Self::Stale => "stale",
            Self::Error => "error",
        }
    }

    /// Whether an answer fits. Of the answers before the last, only a refusal can be wrong.
    pub fn fits(self, answer: &Answered<Receipt>, is_last: bool) -> bool {
        match (answer, self) {
            (Err(refusal), expected) => expected == Self::Error && refusal.by_rules,
            (Ok(_), _) if !is_last => true,
            (Ok(_), Self::Ok) => true,
            (Ok(receipt), Self::Applied) => receipt.is_applied(),
            (Ok(receipt), Self::Stale) => !receipt.is_applied(),
            (Ok(_), Self::Error) => false,
        }
    }
}

/// The text of a receipt.
pub fn receipt_text(answer: &Answered<Receipt>) -> String {
    text_of(answer, |receipt| match &receipt.verdict {
        Verdict::Applied => format!("applied; {}", receipt.state),
        Verdict::Stale(reason) => format!("stale, {reason}; {}", receipt.state),
    })
}
