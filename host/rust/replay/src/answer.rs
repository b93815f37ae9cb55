//! The answer to one call of a step, as expectations and messages see it.

use halfopen_contract::BreakerError;
use halfopen_contract::documents::Inspection;
use halfopen_contract::engine::Answer;
use halfopen_contract::store::StoreError;
use halfopen_contract::types::{Decision, Mode, Permit, Receipt, Verdict};
use serde_json::{Value, json};

/// The words of a refused call: by the rules, or since the engine failed, which no file expects.
const REFUSED: [&str; 2] = ["error", "failed"];

/// An answer, or a refusal that the expectation judges.
#[derive(Debug, Default)]
pub struct Shown {
    /// Its kind: `proceed`, `probe`, `defer`, `applied`, `stale`, `inspection`, or a word of [`REFUSED`].
    pub word: &'static str,
    /// The answer in words.
    pub text: String,
    /// The fields that a file may name, in the order of the format.
    pub fields: Vec<(&'static str, Value)>,
    /// The permit that it gives. That inside a deferral of a ramp is not kept.
    pub permit: Option<Permit>,
}

impl Shown {
    /// Shows the result of a call. A failed store is no answer: it ends the run.
    pub fn of(answer: Result<Answer, BreakerError>) -> Result<Self, StoreError> {
        Ok(match answer {
            Ok(Answer::Decision(decision)) => Self::decision(&decision),
            Ok(Answer::Receipt(receipt)) => Self::receipt(&receipt),
            Ok(Answer::Inspection(json)) => match json.parse() {
                Ok(inspection) => Self::inspection(&inspection),
                Err(error) => Self::word("failed", format!("an inspection that cannot be read: {error}")),
            },
            Ok(_) => Self::word("failed", "an answer of another kind".to_owned()),
            Err(BreakerError::Store(error)) => return Err(error),
            Err(error @ BreakerError::Engine(_)) => Self::word("failed", error.to_string()),
            Err(error) => Self::word("error", format!("error: {error}")),
        })
    }

    /// An answer without fields.
    pub fn word(word: &'static str, text: String) -> Self {
        Shown { word, text, ..Shown::default() }
    }

    /// Fields alone, which are the text too.
    pub fn fields(word: &'static str, fields: Vec<(&'static str, Value)>) -> Self {
        let text = fields.iter().map(|(key, value)| field_text(key, value)).collect::<Vec<_>>().join(", ");
        Shown { word, text, fields, permit: None }
    }

    pub fn is_refused(&self) -> bool {
        REFUSED.contains(&self.word)
    }

    /// The value of a field, where there is one.
    pub fn field(&self, key: &str) -> Option<&Value> {
        self.fields.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    fn decision(decision: &Decision) -> Self {
        let (word, text, permit) = match decision {
            Decision::Proceed(admission) => {
                ("proceed", format!("proceed; epoch {}", admission.permit.epoch), Some(admission.permit))
            }
            Decision::Probe(probe) => {
                let token = probe.permit.lease.map_or_else(|| "none".to_owned(), |token| token.to_string());
                let (epoch, length) = (probe.permit.epoch, probe.expires_in);
                ("probe", format!("probe; epoch {epoch}, token {token}, lease {length} ms"), Some(probe.permit))
            }
            Decision::Defer(deferral) => {
                let text = format!("defer for {} ms; {}", deferral.retry_after, deferral.reason);
                let fields = vec![("defer_ms", deferral.retry_after.into())];
                return Shown { word: "defer", text, fields, permit: None };
            }
        };
        Shown { word, text, fields: Vec::new(), permit }
    }

    fn receipt(receipt: &Receipt) -> Self {
        match &receipt.verdict {
            Verdict::Applied => Self::word("applied", format!("applied; {}", receipt.state)),
            Verdict::Stale(reason) => Self::word("stale", format!("stale, {reason}; {}", receipt.state)),
        }
    }

    fn inspection(inspection: &Inspection) -> Self {
        let forced = match inspection.forced.as_ref().map_or(Mode::None, |forced| forced.mode) {
            Mode::None => "none",
            Mode::Open => "forced-open",
            Mode::Closed => "forced-closed",
        };
        let last_failure = inspection.last_failure.as_ref();
        let last_failure = last_failure.map(|failure| json!({"caller": failure.caller, "cause": failure.cause}));
        let fields = vec![
            ("state", inspection.state.as_str().into()),
            ("override", forced.into()),
            ("probe_due", inspection.probe_due.into()),
            ("leases", inspection.leases.len().into()),
            ("successes", inspection.successes.into()),
            ("level", inspection.level.into()),
            ("calls", inspection.calls.into()),
            ("failures", inspection.failures.into()),
            ("slow", inspection.slow.into()),
            ("failures_in_row", inspection.failures_in_row.into()),
            ("last_failure", last_failure.into()),
        ];
        Self::fields("inspection", fields)
    }
}

/// A field as messages name it.
pub fn field_text(key: &str, value: &Value) -> String {
    match value {
        Value::String(text) => format!("{key} {text}"),
        Value::Array(ends) => {
            let ends: Vec<String> = ends.iter().map(Value::to_string).collect();
            format!("{key} [{}]", ends.join(", "))
        }
        other => format!("{key} {other}"),
    }
}
