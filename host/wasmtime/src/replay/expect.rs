//! What a step expects, and how it reads in a report.

use std::fmt;

use super::json::{self, Fields, Json};
use crate::State;

/// A number, or a range with both ends included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Amount {
    Exactly(u64),
    Between(u64, u64),
}

impl Amount {
    pub(super) fn fits(self, number: u64) -> bool {
        match self {
            Amount::Exactly(wanted) => wanted == number,
            Amount::Between(low, high) => (low..=high).contains(&number),
        }
    }

    fn parse(key: &str, value: Json) -> Result<Self, String> {
        let wanted = "a whole number or [low, high]";
        match value {
            Json::Whole(number) => Ok(Amount::Exactly(number)),
            Json::Array(ends) => match ends.as_slice() {
                [Json::Whole(low), Json::Whole(high)] if low <= high => Ok(Amount::Between(*low, *high)),
                [Json::Whole(low), Json::Whole(high)] => {
                    Err(format!("{key:?} is [{low}, {high}], whose low end is above its high end"))
                }
                _ => Err(format!("{key:?} must be {wanted}, with two whole numbers in the brackets")),
            },
            other => Err(json::wrong_type(key, wanted, &other)),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Exactly(number) => write!(f, "{number}"),
            Amount::Between(low, high) => write!(f, "[{low}, {high}]"),
        }
    }
}

/// The kinds of answers that `acquire` gives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Proceed,
    Probe,
    Defer,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::Proceed, Kind::Probe, Kind::Defer];

    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Proceed => "proceed",
            Kind::Probe => "probe",
            Kind::Defer => "defer",
        }
    }
}

/// What an acquire step expects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OfAcquire {
    /// Each answer is of this kind.
    Each(Kind),
    /// Each answer defers for so long.
    DeferFor(Amount),
    /// So many answers of each kind, in the order of `Kind::ALL`.
    Counts([Option<Amount>; 3]),
    /// The component refuses each.
    Refused,
}

impl OfAcquire {
    pub(super) fn parse(value: Json) -> Result<Self, String> {
        let words = [
            ("proceed", OfAcquire::Each(Kind::Proceed)),
            ("probe", OfAcquire::Each(Kind::Probe)),
            ("defer", OfAcquire::Each(Kind::Defer)),
            ("error", OfAcquire::Refused),
        ];
        let mut fields = match value {
            Json::String(text) => return json::word("expect", &text, &words),
            object @ Json::Object(_) => Fields::of("the expect of an acquire step", object)?,
            other => return Err(json::wrong_type("expect", "a string or an object", &other)),
        };
        let expectation = match fields.take("defer_ms") {
            Some(value) => OfAcquire::DeferFor(Amount::parse("defer_ms", value)?),
            None => {
                let mut counts = [None; 3];
                for (kind, count) in Kind::ALL.iter().zip(&mut counts) {
                    *count = fields.take(kind.name()).map(|value| Amount::parse(kind.name(), value)).transpose()?;
                }
                OfAcquire::Counts(counts)
            }
        };
        fields.finish()?;
        Ok(expectation)
    }
}

impl fmt::Display for OfAcquire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OfAcquire::Each(kind) => f.write_str(kind.name()),
            OfAcquire::DeferFor(amount) => write!(f, "defer for {amount} ms"),
            OfAcquire::Refused => f.write_str("error"),
            OfAcquire::Counts(counts) => {
                let mut between = "";
                for (kind, count) in Kind::ALL.iter().zip(counts) {
                    if let Some(count) = count {
                        write!(f, "{between}{} {count}", kind.name())?;
                        between = ", ";
                    }
                }
                Ok(())
            }
        }
    }
}

/// What a report, tally, renew or release step expects of its last answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OfReport {
    Applied,
    Stale,
    Refused,
}

impl OfReport {
    const WORDS: [(&'static str, Self); 3] =
        [("applied", OfReport::Applied), ("stale", OfReport::Stale), ("error", OfReport::Refused)];

    pub(super) fn parse(value: Json) -> Result<Self, String> {
        json::word("expect", &json::string("expect", value)?, &Self::WORDS)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            OfReport::Applied => "applied",
            OfReport::Stale => "stale",
            OfReport::Refused => "error",
        }
    }
}

/// What a control step expects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OfControl {
    Done,
    Refused,
}

impl OfControl {
    pub(super) fn parse(value: Json) -> Result<Self, String> {
        let words = [("ok", OfControl::Done), ("error", OfControl::Refused)];
        json::word("expect", &json::string("expect", value)?, &words)
    }
}

/// What an inspect step expects.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum OfInspect {
    Fields(Vec<Field>),
    Refused,
}

/// One field of an inspection and what it must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Field {
    State(State),
    Override(Override),
    ProbeDue(bool),
    Number(Number, Amount),
}

/// What is forced, as replay files name it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Override {
    None,
    ForcedOpen,
    ForcedClosed,
}

impl Override {
    const WORDS: [(&'static str, Self); 3] =
        [("none", Override::None), ("forced-open", Override::ForcedOpen), ("forced-closed", Override::ForcedClosed)];

    pub(super) fn name(self) -> &'static str {
        match self {
            Override::None => "none",
            Override::ForcedOpen => "forced-open",
            Override::ForcedClosed => "forced-closed",
        }
    }
}

/// The fields of an inspection that are numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Leases,
    Successes,
    Level,
    Calls,
    Failures,
    Slow,
    FailuresInRow,
}

impl Number {
    const WORDS: [(&'static str, Self); 7] = [
        ("leases", Number::Leases),
        ("successes", Number::Successes),
        ("level", Number::Level),
        ("calls", Number::Calls),
        ("failures", Number::Failures),
        ("slow", Number::Slow),
        ("failures_in_row", Number::FailuresInRow),
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Number::Leases => "leases",
            Number::Successes => "successes",
            Number::Level => "level",
            Number::Calls => "calls",
            Number::Failures => "failures",
            Number::Slow => "slow",
            Number::FailuresInRow => "failures_in_row",
        }
    }
}

impl OfInspect {
    pub(super) fn parse(value: Json) -> Result<Self, String> {
        let fields = match value {
            Json::String(text) => return json::word("expect", &text, &[("error", ())]).map(|()| OfInspect::Refused),
            object @ Json::Object(_) => Fields::of("the expect of an inspect step", object)?,
            other => return Err(json::wrong_type("expect", "an object", &other)),
        };
        let parsed = fields.rest().into_iter().map(|(key, value)| Field::parse(&key, value));
        parsed.collect::<Result<_, _>>().map(OfInspect::Fields)
    }
}

impl Field {
    fn parse(key: &str, value: Json) -> Result<Self, String> {
        match key {
            "state" => state(key, value).map(Field::State),
            "override" => json::word(key, &json::string(key, value)?, &Override::WORDS).map(Field::Override),
            "probe_due" => json::boolean(key, value).map(Field::ProbeDue),
            _ => match Number::WORDS.iter().find(|(name, _)| *name == key) {
                Some((_, number)) => Ok(Field::Number(*number, Amount::parse(key, value)?)),
                None => Err(format!("inspect shows no field {key:?}")),
            },
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Field::State(state) => write!(f, "state {}", state_name(*state)),
            Field::Override(forced) => write!(f, "override {}", forced.name()),
            Field::ProbeDue(due) => write!(f, "probe_due {due}"),
            Field::Number(number, amount) => write!(f, "{} {amount}", number.name()),
        }
    }
}

/// Reads the name of a state.
pub(super) fn state(key: &str, value: Json) -> Result<State, String> {
    let words = [("closed", State::Closed), ("open", State::Open), ("half-open", State::HalfOpen)];
    json::word(key, &json::string(key, value)?, &words)
}

/// The name of a state.
pub(super) fn state_name(state: State) -> &'static str {
    match state {
        State::Closed => "closed",
        State::Open => "open",
        State::HalfOpen => "half-open",
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::parse_line;
    use super::*;

    fn acquire(text: &str) -> Result<OfAcquire, String> {
        OfAcquire::parse(parse_line(text).unwrap())
    }

    fn inspect(text: &str) -> Result<OfInspect, String> {
        OfInspect::parse(parse_line(text).unwrap())
    }

    #[test]
    fn acquire_expectations() {
        assert_eq!(acquire(r#""probe""#), Ok(OfAcquire::Each(Kind::Probe)));
        assert_eq!(acquire(r#"{"defer_ms": 4980}"#), Ok(OfAcquire::DeferFor(Amount::Exactly(4980))));
        assert_eq!(acquire(r#"{"defer_ms": [1, 2]}"#), Ok(OfAcquire::DeferFor(Amount::Between(1, 2))));
        let counts = OfAcquire::Counts([None, Some(Amount::Exactly(1)), Some(Amount::Between(0, 99))]);
        assert_eq!(acquire(r#"{"defer": [0, 99], "probe": 1}"#), Ok(counts));
        for wrong in [
            r#""applied""#,
            "5",
            "null",
            r#"{"defer_ms": "5"}"#,
            r#"{"defer_ms": [2, 1]}"#,
            r#"{"defer_ms": [1]}"#,
            r#"{"defer_ms": [1, 2, 3]}"#,
            r#"{"defer_ms": 1, "probe": 1}"#,
            r#"{"probe": -1}"#,
            r#"{"probes": 1}"#,
        ] {
            assert!(acquire(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn inspect_expectations() {
        let fields = vec![
            Field::State(State::HalfOpen),
            Field::Override(Override::ForcedOpen),
            Field::ProbeDue(false),
            Field::Number(Number::Leases, Amount::Between(1, 2)),
        ];
        let text = r#"{"state": "half-open", "override": "forced-open", "probe_due": false, "leases": [1, 2]}"#;
        assert_eq!(inspect(text), Ok(OfInspect::Fields(fields)));
        for wrong in [
            r#""ok""#,
            r#"{"epoch": 1}"#,
            r#"{"state": "ajar"}"#,
            r#"{"state": 1}"#,
            r#"{"override": "open"}"#,
            r#"{"probe_due": 1}"#,
            r#"{"level": "1"}"#,
            r#"{"level": 0.5}"#,
        ] {
            assert!(inspect(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn ranges_include_both_ends() {
        let range = Amount::Between(2, 4);
        assert_eq!([1, 2, 4, 5].map(|n| range.fits(n)), [false, true, true, false]);
    }
}
