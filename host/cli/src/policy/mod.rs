//! `halfopen policy show` and `set`, and policy files.

mod file;
mod shape;
mod tree;

use std::fmt::Write as _;
use std::path::Path;

use halfopen::{BreakerError, OpenError, Policy, PolicyFault, PolicyOrigin};
use serde::Deserialize as _;

use self::tree::{Entry, Value};
use crate::args::{self, Global};
use crate::exit::{Code, Failure};
use crate::output::line;
use crate::{open, text};

/// Does what the command says.
pub fn policy(args: &args::Policy, global: &Global) -> anyhow::Result<()> {
    match args {
        args::Policy::Show { dependency, json } => show(dependency.as_deref(), *json, global),
        args::Policy::Set { dependency, changes } => set(dependency, changes, global),
    }
}

fn show(dependency: Option<&str>, json: bool, global: &Global) -> anyhow::Result<()> {
    let (policy, comment) = match dependency {
        None => (open::default_policy(global)?, "the default policy".to_owned()),
        Some(name) => {
            let in_force = open::host(global)?.breaker(name).policy()?;
            let comment = match in_force.origin {
                PolicyOrigin::Host => format!("{} has no policy of its own: this is the default", text::escape(name)),
                PolicyOrigin::Dependency => format!("the policy of {}", text::escape(name)),
            };
            (in_force.policy, comment)
        }
    };
    if json {
        return line(text::json(&policy)?);
    }
    line(format_args!("# {comment}"))?;
    line(to_toml(&policy)?.trim_end())
}

fn set(dependency: &str, changes: &[String], global: &Global) -> anyhow::Result<()> {
    let breaker = open::host(global)?.breaker(dependency);
    let (file, assignments) = match changes.split_first() {
        Some((file, rest)) if !file.contains('=') => (Some(file), rest),
        _ => (None, changes),
    };
    if let Some(key) = file.filter(|file| shape::is_key(file) && !Path::new(file).exists()) {
        return Err(not_an_assignment(key));
    }
    let base = match file {
        Some(file) => read(Path::new(file))?,
        None => breaker.policy()?.policy,
    };
    let policy = changed(&base, assignments)?;
    let receipt = breaker.configure(&policy).map_err(in_file_names)?;
    line(format_args!("{}: policy set; it is {}", text::escape(dependency), receipt.state))
}

/// Reads a policy file. Whether its numbers are in range the component says later.
pub fn read(path: &Path) -> anyhow::Result<Policy> {
    let text = file::read(path)?;
    let bad = |why: String| Failure::error(Code::Data, format!("policy file {}: {why}", path.display()));
    let entries = tree::read(&text).map_err(bad)?;
    into_policy(entries).map_err(bad)
}

fn into_policy(mut entries: Vec<Entry>) -> Result<Policy, String> {
    shape::check(&mut entries).map_err(|faults| faults.join("; "))?;
    serde_json::from_value(tree::to_json(&entries)).map_err(|error| error.to_string())
}

/// The policy with `key=value` arguments applied.
fn changed(base: &Policy, assignments: &[String]) -> anyhow::Result<Policy> {
    let Value::Table(mut entries) = Value::deserialize(serde_json::to_value(base)?)? else {
        anyhow::bail!("a policy is not an object");
    };
    let mut given: Vec<(&str, &str)> = Vec::new();
    for assignment in assignments {
        let (key, value) = assignment.split_once('=').ok_or_else(|| not_an_assignment(assignment))?;
        let key = key.trim();
        if let Some((_, other)) = given.iter().find(|(other, _)| shape::excludes(key, other)) {
            let [one, other] = [other, assignment.as_str()].map(text::shortened);
            let message = format!("{one:?} and {other:?} cannot both hold; give one of them");
            return Err(Failure::error(Code::Usage, message));
        }
        given.push((key, assignment));
        let value = tree::value(value.trim())
            .map_err(|why| Failure::error(Code::Data, format!("{:?}: {why}", text::shortened(key))))?;
        assign(&mut entries, key, value);
    }
    into_policy(entries).map_err(|why| Failure::error(Code::Data, why))
}

fn not_an_assignment(word: &str) -> anyhow::Error {
    let word = text::shortened(word);
    Failure::error(
        Code::Usage,
        if shape::is_key(&word) {
            format!("{word:?} is a key without a value; write {word}=VALUE")
        } else {
            format!("{word:?} is not KEY=VALUE; a policy file comes first, and there is one at most")
        },
    )
}

fn assign(entries: &mut Vec<Entry>, key: &str, value: Value) {
    let Some((table, inner)) = key.split_once('.') else { return put(entries, key, value) };
    let mut inside = match entries.iter_mut().find(|entry| entry.key == table) {
        Some(Entry { value: Value::Table(inside), .. }) => std::mem::take(inside),
        _ => Vec::new(),
    };
    if shape::is_choice(table) {
        inside.clear();
    }
    put(&mut inside, inner, value);
    put(entries, table, Value::Table(inside));
}

fn put(entries: &mut Vec<Entry>, key: &str, value: Value) {
    match entries.iter_mut().find(|entry| entry.key == key) {
        Some(entry) => entry.value = value,
        None => entries.push(Entry { key: key.to_owned(), line: None, value }),
    }
}

/// A policy as a file that `set` takes.
fn to_toml(policy: &Policy) -> anyhow::Result<String> {
    let all = serde_json::to_value(policy)?;
    let mut file = String::new();
    for key in shape::keys() {
        let value = match &all[key] {
            serde_json::Value::Null => "\"off\"".to_owned(),
            serde_json::Value::Object(fields) => {
                let inner: Vec<String> = shape::keys_of(key)
                    .iter()
                    .filter_map(|inner| fields.get(*inner).map(|value| format!("{inner} = {value}")))
                    .collect();
                format!("{{ {} }}", inner.join(", "))
            }
            plain => plain.to_string(),
        };
        writeln!(file, "{key} = {value}")?;
    }
    Ok(file)
}

/// The same error with the fields named as in policy files.
pub fn in_file_names(error: BreakerError) -> BreakerError {
    match error {
        BreakerError::InvalidPolicy(faults) => BreakerError::InvalidPolicy(named(faults)),
        other => other,
    }
}

/// The same for a default policy.
pub fn in_file_names_open(error: OpenError) -> OpenError {
    match error {
        OpenError::InvalidPolicy(faults) => OpenError::InvalidPolicy(named(faults)),
        other => other,
    }
}

fn named(faults: Vec<PolicyFault>) -> Vec<PolicyFault> {
    faults.into_iter().map(PolicyFault::in_file_names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use halfopen::{FailureRate, LostProbe, Ramp, Window};

    fn changes(words: &[&str]) -> anyhow::Result<Policy> {
        changed(&Policy::default(), &words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_shown_can_be_set() {
        let policy = Policy {
            slow_calls: None,
            ramp: Some(Ramp { over_ms: 10, from_percent: 5 }),
            window: Window::Calls(7),
            lost_probe: LostProbe::Reopen,
            open_multiplier: 1.5,
            ..Policy::default()
        };
        for policy in [policy, Policy::default()] {
            let file = to_toml(&policy).unwrap();
            assert_eq!(into_policy(tree::read(&file).unwrap()), Ok(policy), "{file}");
        }
    }

    #[test]
    fn assignments_change_what_they_name_and_nothing_else() {
        let policy = changes(&[
            "open_ms=10000",
            "failure_rate.percent=20",
            "window.calls=100",
            "ramp={ over_ms = 5, from_percent = 6 }",
            "lost_probe=reopen",
        ]);
        let wanted = Policy {
            open_ms: 10_000,
            failure_rate: Some(FailureRate { percent: 20, minimum_calls: 20 }),
            window: Window::Calls(100),
            ramp: Some(Ramp { over_ms: 5, from_percent: 6 }),
            lost_probe: LostProbe::Reopen,
            ..Policy::default()
        };
        assert_eq!(policy.unwrap(), wanted);
        assert_eq!(changes(&["failure_rate=off"]).unwrap().failure_rate, None);
        assert_eq!(changes(&["slow_calls=null"]).unwrap(), Policy::default());
    }

    #[test]
    fn wrong_assignments_say_what_is_wrong() {
        for (word, why) in [
            ("open_msec=1", "did you mean \"open_ms\"?"),
            ("failure_rate.precent=1", "did you mean \"failure_rate.percent\"?"),
            ("open_ms=soon", "\"open_ms\" must be a number"),
            ("ramp.over_ms=5", "all of over_ms, from_percent"),
            ("open_ms", "write open_ms=VALUE"),
            ("window.ms", "write window.ms=VALUE"),
            ("open", "not KEY=VALUE"),
            ("=1", "unknown key \"\""),
            ("window=off", "must be a table of"),
        ] {
            let error = format!("{:#}", changes(&[word]).unwrap_err());
            assert!(error.contains(why), "{word}: {error}");
        }
    }

    #[test]
    fn an_assignment_sets_one_value_and_no_more() {
        for word in ["open_ms=5\nprobes=9", "open_ms=5 # soon", "window={ ms = 10,\n calls = 5 }"] {
            let error = format!("{:#}", changes(&[word]).unwrap_err());
            assert!(error.contains("a value is a number, a word or a table"), "{word}: {error}");
        }
    }

    #[test]
    fn assignments_that_cannot_both_hold_are_named() {
        for words in [
            ["open_ms=1", "open_ms=2"],
            ["open_ms=1", "open_ms=1"],
            ["window.ms=10", "window.calls=5"],
            ["window={ ms = 10 }", "window.ms=20"],
            ["ramp.over_ms=5", "ramp=off"],
            ["failure_rate.percent=5", "failure_rate.percent=6"],
        ] {
            let error = format!("{:#}", changes(&words).unwrap_err());
            assert!(words.iter().all(|word| error.contains(word)), "{words:?}: {error}");
        }
        assert!(changes(&["ramp.over_ms=5", "ramp.from_percent=6"]).is_ok());
    }

    #[test]
    fn numbers_out_of_range_reach_the_component() {
        assert_eq!(changes(&["open_ms=-1"]).unwrap().open_ms, u64::MAX);
        assert_eq!(changes(&["probes=0.5"]).unwrap().probes, u32::MAX);
    }
}
