//! The expectation of a step: how a file writes it, and whether an answer fits.

use std::fmt;

use serde_json::{Value, json};

use crate::answer::{Shown, field_text};
use crate::json::{Fields, Raw, boolean, one_of, string, whole_number, wrong_type};

/// The kinds of an answer to `acquire`.
pub const KINDS: [&str; 3] = ["proceed", "probe", "defer"];

/// The values of `state`.
const STATES: [&str; 3] = ["closed", "open", "half-open"];

/// The expectation of a step.
#[derive(Clone, Debug)]
pub enum Expected {
    /// Each answer is of this kind; "ok" is any that is no refusal.
    Word(&'static str),
    /// These fields of each answer have these values.
    Fields(Vec<(String, Value)>),
    /// The number of answers of each kind.
    Counts(Vec<(String, Value)>),
}

impl Expected {
    /// The expectation of an acquire step.
    pub fn acquire(key: &str, raw: &Raw) -> Result<Self, String> {
        match raw.get().as_bytes().first() {
            Some(b'"') => one_of(key, raw, &["proceed", "probe", "defer", "error"]).map(Expected::Word),
            Some(b'{') => {
                let fields = Fields::of("the expect of an acquire step", raw)?;
                if fields.has("defer_ms") {
                    return fields.read_all(&["defer_ms"], amount).map(Expected::Fields);
                }
                fields.read_all(&KINDS, amount).map(Expected::Counts)
            }
            _ => Err(wrong_type(key, "a string or an object", raw)),
        }
    }

    /// The expectation of a report, tally, renew or release step.
    pub fn receipt(key: &str, raw: &Raw) -> Result<Self, String> {
        one_of(key, raw, &["applied", "stale", "error"]).map(Expected::Word)
    }

    /// The expectation of a control step.
    pub fn control(key: &str, raw: &Raw) -> Result<Self, String> {
        one_of(key, raw, &["ok", "error"]).map(Expected::Word)
    }

    /// The expectation of an inspect step.
    pub fn inspection(key: &str, raw: &Raw) -> Result<Self, String> {
        if raw.get().starts_with('"') {
            return one_of(key, raw, &["error"]).map(Expected::Word);
        }
        let fields = Fields::of("the expect of an inspect step", raw)?.rest().into_iter();
        fields.map(|(key, raw)| field(&key, &raw).map(|value| (key, value))).collect::<Result<_, _>>().map(Self::Fields)
    }

    /// The state after a step, as an inspection shows it.
    pub fn state(key: &str, raw: &Raw) -> Result<Self, String> {
        Ok(Expected::Fields(vec![(key.to_owned(), one_of(key, raw, &STATES)?.into())]))
    }

    /// The differences between an answer and the expectation: wanted and got. [`Counts`](Self::Counts) are compared with
    /// the answer whose fields they are.
    pub fn differences(&self, shown: &Shown) -> Vec<(String, String)> {
        let differs = |(key, wanted): &&(String, Value)| !shown.field(key).is_some_and(|got| fits(wanted, got));
        let fits = match self {
            Expected::Word("ok") => !shown.is_refused(),
            Expected::Word(word) => shown.word == *word,
            Expected::Counts(counts) => {
                !shown.is_refused() && (KINDS.contains(&shown.word) || !counts.iter().any(|count| differs(&count)))
            }
            Expected::Fields(fields) if fields.iter().all(|(key, _)| shown.field(key).is_some()) => {
                let text = |(key, wanted): &(String, Value)| {
                    (field_text(key, wanted), field_text(key, shown.field(key).unwrap_or(&Value::Null)))
                };
                return fields.iter().filter(differs).map(text).collect();
            }
            Expected::Fields(_) => false,
        };
        if fits { Vec::new() } else { vec![(self.to_string(), shown.text.clone())] }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Word(word) => f.write_str(word),
            Expected::Fields(fields) | Expected::Counts(fields) => {
                let fields: Vec<String> = fields.iter().map(|(key, value)| field_text(key, value)).collect();
                f.write_str(&fields.join(", "))
            }
        }
    }
}

/// Whether a value is as expected: in the range, or the same; of an object, the keys that are named.
fn fits(wanted: &Value, got: &Value) -> bool {
    match wanted {
        Value::Array(ends) => {
            let (number, end) = (got.as_u64(), |at: usize| ends.get(at).and_then(Value::as_u64));
            end(0) <= number && number <= end(1)
        }
        Value::Object(keys) => got.is_object() && keys.iter().all(|(key, wanted)| got[key] == *wanted),
        wanted => got == wanted,
    }
}

/// The expected value of a field of an inspection.
fn field(key: &str, raw: &Raw) -> Result<Value, String> {
    match key {
        "state" => one_of(key, raw, &STATES).map(Value::from),
        "override" => one_of(key, raw, &["none", "forced-open", "forced-closed"]).map(Value::from),
        "probe_due" => boolean(key, raw).map(Value::from),
        "last_failure" => last_failure(key, raw),
        "leases" | "successes" | "level" | "calls" | "failures" | "slow" | "failures_in_row" => amount(key, raw),
        _ => Err(format!("inspect shows no field {key:?}")),
    }
}

fn last_failure(key: &str, raw: &Raw) -> Result<Value, String> {
    if raw.get() == "null" {
        return Ok(Value::Null);
    }
    if !raw.get().starts_with('{') {
        return Err(wrong_type(key, "null or an object", raw));
    }
    let fields = Fields::of("the expected last_failure", raw)?.read_all(&["caller", "cause"], string)?;
    Ok(fields.into_iter().map(|(key, text)| (key, Value::from(text))).collect())
}

/// A number, or the two ends of a range.
fn amount(key: &str, raw: &Raw) -> Result<Value, String> {
    if let Some(number) = whole_number(raw) {
        return Ok(number.into());
    }
    let wanted = "a whole number or [low, high]";
    let ends: Vec<&Raw> = serde_json::from_str(raw.get()).map_err(|_| wrong_type(key, wanted, raw))?;
    match ends.iter().map(|end| whole_number(end)).collect::<Vec<_>>()[..] {
        [Some(low), Some(high)] if low <= high => Ok(json!([low, high])),
        [Some(low), Some(high)] => Err(format!("{key:?} is [{low}, {high}], whose low end is above its high end")),
        _ => Err(format!("{key:?} must be {wanted}, with two whole numbers in the brackets")),
    }
}
