use std::fmt;

use halfopen_contract::types::Decision;

use super::amount::Amount;
use super::{Answered, text_of};
use crate::json::{Fields, Raw, one_of, wrong_type};

/// The kind of an answer to `acquire`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Proceed,
    Probe,
    Defer,
}

impl Kind {
    pub const ALL: [Kind; 3] = [Kind::Proceed, Kind::Probe, Kind::Defer];

    pub fn of(decision: &Decision) -> Kind {
        match decision {
            Decision::Proceed(_) => Kind::Proceed,
            Decision::Probe(_) => Kind::Probe,
            Decision::Defer(_) => Kind::Defer,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Proceed => "proceed",
            Kind::Probe => "probe",
            Kind::Defer => "defer",
        }
    }
}

/// The expectation of an acquire step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ExpectedDecision {
    /// Each answer is of this kind.
    Each(Kind),
    /// Each answer defers for this number of ms.
    DeferFor(Amount),
    /// The number of answers of each kind, in the order of [`Kind::ALL`].
    Counts([Option<Amount>; 3]),
    /// Each call is refused.
    Error,
}

impl ExpectedDecision {
    pub fn read(key: &str, raw: &Raw) -> Result<Self, String> {
        match raw.get().as_bytes().first() {
            Some(b'"') => {
                let [proceed, probe, defer] = Kind::ALL.map(|kind| (kind.name(), ExpectedDecision::Each(kind)));
                one_of(key, raw, &[proceed, probe, defer, ("error", ExpectedDecision::Error)])
            }
            Some(b'{') => Self::of_object(Fields::of("the expect of an acquire step", raw)?),
            _ => Err(wrong_type(key, "a string or an object", raw)),
        }
    }

    fn of_object(mut fields: Fields) -> Result<Self, String> {
        let expected = match fields.optional("defer_ms", Amount::read)? {
            Some(amount) => ExpectedDecision::DeferFor(amount),
            None => {
                let mut count = |kind: Kind| fields.optional(kind.name(), Amount::read);
                ExpectedDecision::Counts([count(Kind::Proceed)?, count(Kind::Probe)?, count(Kind::Defer)?])
            }
        };
        fields.finish()?;
        Ok(expected)
    }

    /// Whether one answer fits. [`fits_counts`](Self::fits_counts) judges the counts, after the last answer.
    pub fn fits(expected: Option<Self>, answer: &Answered<Decision>) -> bool {
        match (answer, expected) {
            (Err(refusal), Some(ExpectedDecision::Error)) => refusal.by_rules,
            (Err(_), _) | (Ok(_), Some(ExpectedDecision::Error)) => false,
            (Ok(decision), Some(ExpectedDecision::Each(wanted))) => Kind::of(decision) == wanted,
            (Ok(Decision::Defer(deferral)), Some(ExpectedDecision::DeferFor(wanted))) => {
                wanted.fits(deferral.retry_after)
            }
            (Ok(_), Some(ExpectedDecision::DeferFor(_))) => false,
            (Ok(_), Some(ExpectedDecision::Counts(_)) | None) => true,
        }
    }

    /// Whether the number of answers of each kind fits.
    pub fn fits_counts(expected: Option<Self>, counts: [u64; 3]) -> bool {
        let Some(ExpectedDecision::Counts(wanted)) = expected else { return true };
        wanted.iter().zip(counts).all(|(wanted, got)| wanted.is_none_or(|wanted| wanted.fits(got)))
    }
}

impl fmt::Display for ExpectedDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExpectedDecision::Each(kind) => f.write_str(kind.name()),
            ExpectedDecision::DeferFor(amount) => write!(f, "defer for {amount} ms"),
            ExpectedDecision::Error => f.write_str("error"),
            ExpectedDecision::Counts(counts) => {
                let counts = Kind::ALL.iter().zip(counts);
                let counts = counts.filter_map(|(kind, count)| Some(format!("{} {}", kind.name(), (*count)?)));
                f.write_str(&counts.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// The text of an answer to `acquire`.
pub fn decision_text(answer: &Answered<Decision>) -> String {
    text_of(answer, |decision| match decision {
        Decision::Proceed(admission) => format!("proceed; epoch {}", admission.permit.epoch),
        Decision::Probe(probe) => {
            let token = probe.permit.lease.map_or_else(|| "none".to_owned(), |token| token.to_string());
            format!("probe; epoch {}, token {token}, lease {} ms", probe.permit.epoch, probe.expires_in)
        }
        Decision::Defer(deferral) => format!("defer for {} ms; {}", deferral.retry_after, deferral.reason),
    })
}
