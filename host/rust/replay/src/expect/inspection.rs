use halfopen_contract::documents::Inspection;
use halfopen_contract::types::{Mode, State};
use serde_json::{Value, json};

use super::amount::Amount;
use super::{Answered, text_of};
use crate::json::{Fields, Raw, boolean, one_of, string, wrong_type};

/// The expectation of an inspect step.
#[derive(Clone, Debug)]
pub enum ExpectedInspection {
    /// These fields have these values.
    Fields(Vec<(String, ExpectedValue)>),
    /// The call is refused.
    Error,
}

/// The expected value of a field.
#[derive(Clone, Debug)]
pub enum ExpectedValue {
    Amount(Amount),
    /// Of an object, the keys that are named.
    Value(Value),
}

impl ExpectedInspection {
    pub fn read(key: &str, raw: &Raw) -> Result<Self, String> {
        if raw.get().starts_with('"') {
            return one_of(key, raw, &[("error", ())]).map(|()| ExpectedInspection::Error);
        }
        let fields = Fields::of("the expect of an inspect step", raw)?.rest().into_iter();
        let fields = fields.map(|(key, raw)| ExpectedValue::read(&key, &raw).map(|value| (key, value)));
        fields.collect::<Result<_, _>>().map(ExpectedInspection::Fields)
    }

    /// The differences between an answer and the expectation: wanted and got.
    pub fn differences(expected: Option<&Self>, answer: &Answered<Inspection>) -> Vec<(String, String)> {
        match (answer, expected) {
            (Err(refusal), Some(ExpectedInspection::Error)) if refusal.by_rules => Vec::new(),
            (Err(refusal), _) => vec![("an inspection".to_owned(), refusal.text.clone())],
            (Ok(_), None) => Vec::new(),
            (Ok(_), Some(ExpectedInspection::Error)) => vec![("error".to_owned(), "an inspection".to_owned())],
            (Ok(inspection), Some(ExpectedInspection::Fields(fields))) => {
                let shown = fields_of(inspection);
                let differing = fields.iter().filter(|(key, wanted)| !wanted.fits(&shown[key]));
                differing
                    .map(|(key, wanted)| (field_text(key, &wanted.value()), field_text(key, &shown[key])))
                    .collect()
            }
        }
    }
}

impl ExpectedValue {
    fn read(key: &str, raw: &Raw) -> Result<Self, String> {
        let value = match key {
            "state" => {
                let states =
                    [State::Closed, State::Open, State::HalfOpen].map(|state| (state.as_str(), state.as_str()));
                one_of(key, raw, &states)?.into()
            }
            "override" => {
                let modes =
                    [Mode::None, Mode::Open, Mode::Closed].map(|mode| (override_name(mode), override_name(mode)));
                one_of(key, raw, &modes)?.into()
            }
            "probe_due" => boolean(key, raw)?.into(),
            "last_failure" => last_failure(key, raw)?,
            "leases" | "successes" | "level" | "calls" | "failures" | "slow" | "failures_in_row" => {
                return Amount::read(key, raw).map(ExpectedValue::Amount);
            }
            _ => return Err(format!("inspect shows no field {key:?}")),
        };
        Ok(ExpectedValue::Value(value))
    }

    fn fits(&self, shown: &Value) -> bool {
        match self {
            ExpectedValue::Amount(amount) => shown.as_u64().is_some_and(|number| amount.fits(number)),
            ExpectedValue::Value(Value::Object(keys)) => {
                shown.is_object() && keys.iter().all(|(key, wanted)| shown[key] == *wanted)
            }
            ExpectedValue::Value(wanted) => shown == wanted,
        }
    }

    fn value(&self) -> Value {
        match self {
            ExpectedValue::Amount(amount) => amount.to_string().into(),
            ExpectedValue::Value(value) => value.clone(),
        }
    }
}

fn last_failure(key: &str, raw: &Raw) -> Result<Value, String> {
    if raw.get() == "null" {
        return Ok(Value::Null);
    }
    if !raw.get().starts_with('{') {
        return Err(wrong_type(key, "null or an object", raw));
    }
    let mut fields = Fields::of("the expected last_failure", raw)?;
    let mut wanted = json!({});
    for key in ["caller", "cause"] {
        if let Some(text) = fields.optional(key, string)? {
            wanted[key] = text.into();
        }
    }
    fields.finish()?;
    Ok(wanted)
}

/// The fields of an inspection, as replay files name and spell them.
fn fields_of(inspection: &Inspection) -> Value {
    let Inspection { state, probe_due, leases, successes, level, calls, failures, slow, failures_in_row, .. } =
        inspection;
    let mode = inspection.forced.as_ref().map_or(Mode::None, |forced| forced.mode);
    let last_failure = inspection.last_failure.as_ref();
    json!({
        "state": state, "override": override_name(mode), "probe_due": probe_due, "leases": leases.len(),
        "successes": successes, "level": level, "calls": calls, "failures": failures, "slow": slow,
        "failures_in_row": failures_in_row,
        "last_failure": last_failure.map(|failure| json!({"caller": failure.caller, "cause": failure.cause})),
    })
}

fn override_name(mode: Mode) -> &'static str {
    match mode {
        Mode::None => "none",
        Mode::Open => "forced-open",
        Mode::Closed => "forced-closed",
    }
}

fn field_text(key: &str, value: &Value) -> String {
    match value {
        Value::String(text) => format!("{key} {text}"),
        other => format!("{key} {other}"),
    }
}

/// The text of an inspection.
pub fn inspection_text(answer: &Answered<Inspection>) -> String {
    const ORDER: [&str; 11] = [
        "state",
        "override",
        "probe_due",
        "leases",
        "successes",
        "level",
        "calls",
        "failures",
        "slow",
        "failures_in_row",
        "last_failure",
    ];
    text_of(answer, |inspection| {
        let shown = fields_of(inspection);
        ORDER.map(|key| field_text(key, &shown[key])).join(", ")
    })
}
