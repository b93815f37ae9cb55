//! Reads replay files, strictly: whatever the format does not know is an error with its line.

use super::expect::{self, OfAcquire, OfControl, OfInspect, OfReport};
use super::json::{self, Fields};
use super::scenario::{Action, Control, Report, Scenario, Step};
use super::{ReplayError, typo};
use crate::{Mode, Outcome, Policy, Tally};

/// The seed of a file that names none.
const SEED: u64 = 1;

/// Reads a whole file.
pub(super) fn scenario(bytes: &[u8]) -> Result<Scenario, ReplayError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = &bytes[..error.valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        malformed(line, format!("byte {} of the file is not UTF-8", good.len() + 1))
    })?;
    if text.trim().is_empty() {
        return Err(malformed(1, "the file is empty; its first line must be {\"scenario\": \"...\"}".to_owned()));
    }
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let (_, first) = lines.next().unwrap_or((1, ""));
    let mut scenario = first_line(first).map_err(|why| malformed(1, why))?;
    for (number, line) in lines {
        scenario.steps.push(step(number, line).map_err(|why| malformed(number, why))?);
    }
    Ok(scenario)
}

fn malformed(line: usize, why: String) -> ReplayError {
    ReplayError::Malformed { line, why }
}

fn first_line(line: &str) -> Result<Scenario, String> {
    if line.starts_with('\u{feff}') {
        return Err("the file starts with a byte order mark; save it without one".to_owned());
    }
    let mut fields = Fields::of("the first line", json::parse_line(line)?)?;
    let name = fields.string("scenario")?;
    let name = fields.required("scenario", name)?;
    let dependency = fields.string("dependency")?.unwrap_or_else(|| "payments".to_owned());
    let policy = policy(&mut fields)?.unwrap_or_default();
    let seed = fields.whole("seed")?.unwrap_or(SEED);
    fields.finish()?;
    Ok(Scenario { name, dependency, policy, seed, steps: Vec::new() })
}

/// The shape of a policy is judged here; whether its numbers are in range the component says.
fn policy(fields: &mut Fields) -> Result<Option<Policy>, String> {
    let Some(value) = fields.take("policy") else { return Ok(None) };
    match value {
        object @ json::Json::Object(_) => serde_json::from_value(object.into_value())
            .map(Some)
            .map_err(|error| format!("\"policy\" is not a policy: {}", typo::with_nearest(&error.to_string()))),
        other => Err(json::wrong_type("policy", "an object", &other)),
    }
}

fn step(line: usize, text: &str) -> Result<Step, String> {
    let mut fields = Fields::of("a step", json::parse_line(text)?)?;
    let at = fields.whole("at")?;
    let at = fields.required("at", at)?;
    let name = fields.string("do")?;
    let name = fields.required("do", name)?;
    let dependency = fields.string("dependency")?;
    let by = fields.string("by")?.unwrap_or_else(|| "A".to_owned());
    let state = fields.take("state").map(|value| expect::state("state", value)).transpose()?;
    let action = match name.as_str() {
        "acquire" => {
            fields.known_as("an acquire step");
            let keep_as = fields.string("as")?.unwrap_or_else(|| by.clone());
            let expect = fields.take("expect").map(OfAcquire::parse).transpose()?;
            Action::Acquire { keep_as, times: times(&mut fields)?, expect }
        }
        "report" => {
            fields.known_as("a report step");
            let outcome = fields.string("outcome")?;
            let outcome = json::word("outcome", &fields.required("outcome", outcome)?, &OUTCOMES)?;
            let took_ms = fields.whole("took_ms")?;
            report(Report::Outcome { outcome, took_ms }, &mut fields, &by)?
        }
        "tally" => {
            fields.known_as("a tally step");
            let tally = tally(&mut fields)?;
            report(Report::Tally(tally), &mut fields, &by)?
        }
        "renew" => {
            fields.known_as("a renew step");
            report(Report::Renew, &mut fields, &by)?
        }
        "release" => {
            fields.known_as("a release step");
            report(Report::Release, &mut fields, &by)?
        }
        "inspect" => {
            fields.known_as("an inspect step");
            Action::Inspect { expect: fields.take("expect").map(OfInspect::parse).transpose()? }
        }
        "configure" => {
            fields.known_as("a configure step");
            let policy = policy(&mut fields)?;
            let policy = fields.required("policy", policy)?;
            control(Control::Configure(Box::new(policy)), &mut fields)?
        }
        "force" => {
            fields.known_as("a force step");
            let mode = fields.string("mode")?;
            let mode = json::word("mode", &fields.required("mode", mode)?, &MODES)?;
            let lasting_ms = fields.whole("lasting_ms")?;
            control(Control::Force { mode, lasting_ms }, &mut fields)?
        }
        "reset" => {
            fields.known_as("a reset step");
            control(Control::Reset, &mut fields)?
        }
        "forget" => {
            fields.known_as("a forget step");
            control(Control::Forget, &mut fields)?
        }
        "restart" => {
            fields.known_as("a restart step");
            control(Control::Restart, &mut fields)?
        }
        other => {
            return Err(format!(
                "\"do\" is {other:?}; it must be one of acquire, report, tally, release, renew, inspect, configure, \
                 force, reset, forget, restart"
            ));
        }
    };
    fields.finish()?;
    Ok(Step { line, at, dependency, by, action, state })
}

const OUTCOMES: [(&str, Outcome); 4] = [
    ("success", Outcome::Success),
    ("failure", Outcome::Failure),
    ("timeout", Outcome::Timeout),
    ("ignored", Outcome::Ignored),
];

const MODES: [(&str, Mode); 3] = [("open", Mode::Open), ("closed", Mode::Closed), ("none", Mode::None)];

/// How often a step can be repeated: more is a slip, and would run for hours.
const MOST_TIMES: u64 = 1_000_000;

fn times(fields: &mut Fields) -> Result<u64, String> {
    match fields.whole("times")?.unwrap_or(1) {
        times @ 1..=MOST_TIMES => Ok(times),
        times => Err(format!("\"times\" is {times}; it must be 1 to 1,000,000")),
    }
}

fn report(what: Report, fields: &mut Fields, by: &str) -> Result<Action, String> {
    let permit = fields.string("permit")?.unwrap_or_else(|| by.to_owned());
    let expect = fields.take("expect").map(OfReport::parse).transpose()?;
    Ok(Action::Report { what, permit, times: times(fields)?, expect })
}

fn tally(fields: &mut Fields) -> Result<Tally, String> {
    Ok(Tally {
        successes: fields.whole("successes")?.unwrap_or(0),
        slow_successes: fields.whole("slow_successes")?.unwrap_or(0),
        failures: fields.whole("failures")?.unwrap_or(0),
        slow_failures: fields.whole("slow_failures")?.unwrap_or(0),
    })
}

fn control(what: Control, fields: &mut Fields) -> Result<Action, String> {
    let expect = fields.take("expect").map(OfControl::parse).transpose()?.unwrap_or(OfControl::Done);
    Ok(Action::Control { what, expect })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = r#"{"scenario": "s"}"#;

    fn wrong(text: &str) -> (usize, String) {
        match scenario(text.as_bytes()) {
            Err(ReplayError::Malformed { line, why }) => (line, why),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn defaults_of_the_first_line_and_of_steps() {
        let read = scenario(format!("{FIRST}\n{}\n", r#"{"at": 0, "do": "acquire"}"#).as_bytes()).unwrap();
        assert_eq!((read.name(), read.dependency.as_str(), read.seed), ("s", "payments", 1));
        assert_eq!(read.policy, Policy::default());
        let step = &read.steps[0];
        assert_eq!((step.line, step.by.as_str(), &step.dependency), (2, "A", &None));
        assert!(matches!(&step.action, Action::Acquire { keep_as, times: 1, expect: None } if keep_as == "A"));
    }

    #[test]
    fn files_that_are_no_scenarios() {
        assert!(wrong("").1.contains("empty"));
        assert!(wrong("\n\n").1.contains("empty"));
        assert!(wrong("{}").1.contains("lacks \"scenario\""));
        assert!(wrong("[]").1.contains("must be an object"));
        assert!(wrong("\u{feff}{\"scenario\": \"s\"}").1.contains("byte order mark"));
        assert!(wrong(r#"{"scenario": "s", "seeds": 1}"#).1.contains("no key \"seeds\""));
        assert!(wrong(r#"{"scenario": "s", "policy": null}"#).1.contains("must be an object"));
        assert!(
            wrong(r#"{"scenario": "s", "policy": {"open_msec": 1}}"#)
                .1
                .contains("`open_msec`; did you mean `open_ms`?")
        );
        let inner = wrong(r#"{"scenario": "s", "policy": {"ramp": {"over_ms": 1, "from": 1}}}"#).1;
        assert!(inner.contains("unknown field `from`; did you mean `from_percent`?"), "{inner}");
        assert_eq!(wrong(&format!("{FIRST}\n{}", r#"{"at": 0, "do": "acq"#)).0, 2);
        assert_eq!(wrong(&format!("{FIRST}\n\n{}", r#"{"at": 0, "do": "reset"}"#)).0, 2);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_placed() {
        let mut bytes = format!("{FIRST}\n").into_bytes();
        bytes.push(0xff);
        match scenario(&bytes) {
            Err(ReplayError::Malformed { line: 2, why }) => assert!(why.contains("byte 19"), "{why}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn steps_that_are_none() {
        for (step, why) in [
            (r#"{"do": "reset"}"#, "lacks \"at\""),
            (r#"{"at": -1, "do": "reset"}"#, "negative"),
            (r#"{"at": 1.5, "do": "reset"}"#, "whole"),
            (r#"{"at": "1", "do": "reset"}"#, "string"),
            (r#"{"at": 0}"#, "lacks \"do\""),
            (r#"{"at": 0, "do": "jump"}"#, "jump"),
            (r#"{"at": 0, "do": "reset", "times": 2}"#, "a reset step has no key \"times\""),
            (r#"{"at": 0, "do": "inspect", "permit": "A"}"#, "an inspect step has no key \"permit\""),
            (r#"{"at": 0, "do": "acquire", "permit": "A"}"#, "an acquire step has no key \"permit\""),
            (r#"{"at": 0, "do": "renew", "outcome": "success"}"#, "a renew step has no key \"outcome\""),
            (r#"{"at": 0, "do": "acquire", "times": 0}"#, "\"times\" is 0; it must be 1 to 1,000,000"),
            (r#"{"at": 0, "do": "acquire", "times": 1000001}"#, "it must be 1 to 1,000,000"),
            (r#"{"at": 0, "do": "renew", "times": 18446744073709551615}"#, "it must be 1 to 1,000,000"),
            (r#"{"at": 0, "do": "acquire", "expct": "probe"}"#, "no key \"expct\"; did you mean \"expect\"?"),
            (r#"{"at": 0, "do": "report"}"#, "lacks \"outcome\""),
            (r#"{"at": 0, "do": "report", "outcome": "fine"}"#, "fine"),
            (r#"{"at": 0, "do": "report", "outcome": "success", "expect": "ok"}"#, "\"expect\" is \"ok\""),
            (r#"{"at": 0, "do": "force"}"#, "lacks \"mode\""),
            (r#"{"at": 0, "do": "configure"}"#, "lacks \"policy\""),
            (r#"{"at": 0, "do": "configure", "policy": {"probes": "1"}}"#, "policy"),
            (r#"{"at": 0, "do": "reset", "expect": "applied"}"#, "\"expect\" is \"applied\""),
            (r#"{"at": 0, "do": "reset", "state": "shut"}"#, "shut"),
        ] {
            let (line, got) = wrong(&format!("{FIRST}\n{step}"));
            assert!(line == 2 && got.contains(why), "{step}: {got}");
        }
    }

    #[test]
    fn numbers_out_of_range_are_left_to_the_component() {
        for odd in ["-1", "1e30", "0.5", "99999999999999999999"] {
            let step = format!(r#"{{"at": 0, "do": "configure", "policy": {{"open_ms": {odd}}}, "expect": "error"}}"#);
            assert!(scenario(format!("{FIRST}\n{step}").as_bytes()).is_ok(), "{odd}");
        }
    }
}
