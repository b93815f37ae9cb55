//! Reads replay files, strictly: whatever the format does not have is an error with its line.

use std::path::Path;
use std::sync::Arc;

use halfopen_contract::documents::Policy;
use halfopen_contract::engine::Operation;
use halfopen_contract::types::{Mode, Operator, Report, Tally};

use super::step::{Action, Settlement, Step};
use super::{Scenario, ScenarioError};
use crate::expect::Expected;
use crate::json::{Fields, Raw, Unique, one_of, string, whole, word, wrong_type};

/// The dependency of a file that names none.
const DEPENDENCY: &str = "payments";

/// The seed of a file that has none.
const SEED: u64 = 1;

/// The caller of a step that names none.
const CALLER: &str = "A";

/// The most that a step can be repeated: more is a slip, and would run for hours.
const MOST_TIMES: u64 = 1_000_000;

/// The words of `do`.
const STEPS: [&str; 11] =
    ["acquire", "report", "tally", "release", "renew", "inspect", "configure", "force", "reset", "forget", "restart"];

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ScenarioError`].
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ScenarioError> {
        Self::parse(&std::fs::read(path)?)
    }

    /// Reads the contents of a file.
    ///
    /// # Errors
    /// [`ScenarioError::Malformed`], with the line and what is wrong there.
    pub fn parse(bytes: &[u8]) -> Result<Self, ScenarioError> {
        let malformed = |line, why| ScenarioError::Malformed { line, why };
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let good = &bytes[..error.valid_up_to()];
            let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
            malformed(line, format!("byte {} of the file is not UTF-8", good.len() + 1))
        })?;
        // Some editors begin a file with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let first = text.lines().next().filter(|_| !text.trim().is_empty());
        let mut scenario = first_line(first).map_err(|why| malformed(1, why))?;
        for (line, content) in (1..).zip(text.lines()).skip(1) {
            let step = step(line, content, &scenario.dependency).map_err(|why| malformed(line, why))?;
            scenario.steps.push(step);
        }
        Ok(scenario)
    }
}

fn first_line(line: Option<&str>) -> Result<Scenario, String> {
    let line = line.ok_or("the file is empty; its first line must be {\"scenario\": \"...\"}")?;
    let mut fields = Fields::of_line("the first line", line)?;
    let scenario = Scenario {
        name: fields.required("scenario", string)?,
        dependency: fields.optional("dependency", string)?.unwrap_or_else(|| DEPENDENCY.to_owned()).into(),
        policy: fields.optional("policy", default_policy)?.unwrap_or_default(),
        seed: fields.optional("seed", whole)?.unwrap_or(SEED),
        steps: Vec::new(),
    };
    fields.finish()?;
    Ok(scenario)
}

fn default_policy(key: &str, raw: &Raw) -> Result<Policy, String> {
    policy_text(key, raw)?.parse().map_err(|error| format!("{key:?}: {error}"))
}

/// A policy, as it is written: the rules judge it. But JSON with a key twice is no policy that all hosts read alike.
fn policy_text(key: &str, raw: &Raw) -> Result<Arc<str>, String> {
    if !raw.get().starts_with('{') {
        return Err(wrong_type(key, "an object", raw));
    }
    let keys_of = |raw: &Raw| serde_json::from_str::<Unique>(raw.get()).map_err(|error| format!("{key:?}: {error}"));
    for (_, table) in keys_of(raw)?.0 {
        if table.get().starts_with('{') {
            keys_of(&table)?;
        }
    }
    Ok(raw.get().into())
}

/// A policy, or null for that of the host.
fn policy_or_null(key: &str, raw: &Raw) -> Result<Option<Arc<str>>, String> {
    if raw.get() == "null" { Ok(None) } else { policy_text(key, raw).map(Some) }
}

fn step(line: usize, text: &str, dependency: &Arc<str>) -> Result<Step, String> {
    let mut fields = Fields::of_line("a step", text)?;
    let at = fields.required("at", whole)?;
    let name = fields.required("do", |key, raw| one_of(key, raw, &STEPS))?;
    let article = if name.starts_with(['a', 'i']) { "an" } else { "a" };
    fields.rename(format!("{article} {name} step"));
    let dependency = fields.optional("dependency", string)?.map_or_else(|| Arc::clone(dependency), Arc::from);
    let by = fields.optional("by", string)?;
    let state = fields.optional("state", Expected::state)?;
    let is_control = matches!(name, "configure" | "force" | "reset" | "forget" | "restart");
    let by = by.unwrap_or_else(|| if is_control { String::new() } else { CALLER.to_owned() });
    let (action, expect): (_, fn(&str, &Raw) -> _) = match name {
        "acquire" => (Action::Acquire(permit_name(&mut fields, "as", &by)?), Expected::acquire),
        "inspect" => (Action::Operate(Operation::Inspect), Expected::inspection),
        _ if is_control => (control(name, &mut fields, &by)?, Expected::control),
        _ => {
            let settlement = match name {
                "report" => report(&mut fields, by.clone())?,
                "tally" => tally(&mut fields, by.clone())?,
                "renew" => Settlement::Renew,
                _ => Settlement::Release,
            };
            (Action::WithPermit(permit_name(&mut fields, "permit", &by)?, settlement), Expected::receipt)
        }
    };
    let expect = fields.optional("expect", expect)?.unwrap_or(Expected::Word("ok"));
    let times = if is_control || name == "inspect" { 1 } else { times(&mut fields)? };
    fields.finish()?;
    Ok(Step { line, at, name, dependency, by: by.into(), action, times, expect, state })
}

fn times(fields: &mut Fields) -> Result<u64, String> {
    match fields.optional("times", whole)?.unwrap_or(1) {
        times @ 1..=MOST_TIMES => Ok(times),
        times => Err(format!("\"times\" is {times}; it must be 1 to 1,000,000")),
    }
}

/// The name of a permit; that of the caller where none is given.
fn permit_name(fields: &mut Fields, key: &'static str, by: &str) -> Result<String, String> {
    Ok(fields.optional(key, string)?.unwrap_or_else(|| by.to_owned()))
}

fn report(fields: &mut Fields, caller: String) -> Result<Settlement, String> {
    Ok(Settlement::Report(Report {
        outcome: fields.required("outcome", word)?,
        took: fields.optional("took_ms", whole)?,
        caller,
        cause: fields.optional("cause", string)?.unwrap_or_default(),
        retry_after: fields.optional("retry_after_ms", whole)?,
    }))
}

fn tally(fields: &mut Fields, caller: String) -> Result<Settlement, String> {
    let mut count = |key| fields.optional(key, whole).map(Option::unwrap_or_default);
    let (successes, slow_successes) = (count("successes")?, count("slow_successes")?);
    let (failures, slow_failures) = (count("failures")?, count("slow_failures")?);
    let cause = fields.optional("cause", string)?.unwrap_or_default();
    let retry_after = fields.optional("retry_after_ms", whole)?;
    Ok(Settlement::Tally(Tally { successes, slow_successes, failures, slow_failures, caller, cause, retry_after }))
}

fn control(name: &str, fields: &mut Fields, by: &str) -> Result<Action, String> {
    let note = fields.optional("note", string)?.unwrap_or_default();
    let operator = Operator { by: by.to_owned(), note };
    Ok(Action::Operate(match name {
        "configure" => Operation::Configure { policy: fields.required("policy", policy_or_null)?, operator },
        "force" => {
            let (mode, lasting) = (fields.required("mode", word::<Mode>)?, fields.optional("lasting_ms", whole)?);
            Operation::Force { mode, lasting, operator }
        }
        "reset" => Operation::Reset { operator },
        "forget" => Operation::Forget { operator },
        _ => return Ok(Action::Restart),
    }))
}
