//! The scenarios through local admission: as a program that embeds a breaker sees them.

use std::path::{Path, PathBuf};

use halfopen::replay::{Replay, Scenario};
use serde_json::Value;

/// Those that do not hold with `fresh_ms = 250`, each with its reason.
const LATER: &[(&str, &str)] = &[];

/// The files of `tests/scenarios/`, and those of the folder that `HALFOPEN_SCENARIOS` names, if it is set.
fn files() -> Vec<PathBuf> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let folders = std::iter::once(own).chain(std::env::var_os("HALFOPEN_SCENARIOS").map(PathBuf::from));
    let entries = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|ext| ext == "jsonl")).collect();
    files.sort();
    assert!(files.len() >= 40, "only {} scenarios", files.len());
    files
}

/// The file with this `fresh_ms` in each of its policies.
fn with_fresh_ms(file: &Path, fresh_ms: u64) -> Vec<u8> {
    let text = std::fs::read_to_string(file).unwrap();
    let lines = text.lines().enumerate().map(|(number, line)| {
        let Ok(Value::Object(mut step)) = serde_json::from_str(line) else { return line.to_owned() };
        if number == 0 || step.get("do").is_some_and(|action| action == "configure") {
            let policy = step.entry("policy").or_insert_with(|| Value::Object(serde_json::Map::new()));
            policy["fresh_ms"] = fresh_ms.into();
        }
        Value::Object(step).to_string()
    });
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}

/// The names of those that do not hold, with what went wrong.
fn failing(fresh_ms: u64) -> Vec<(String, String)> {
    let mut failing = Vec::new();
    for file in files() {
        let scenario = Scenario::parse(&with_fresh_ms(&file, fresh_ms)).unwrap();
        let report = Replay::in_memory().local_admission(true).run(&scenario).unwrap();
        if !report.holds() {
            let why: Vec<String> = report.failures.iter().map(ToString::to_string).collect();
            failing.push((file.file_stem().unwrap().to_string_lossy().into_owned(), why.join("; ")));
        }
    }
    failing
}

#[test]
fn asking_every_time_all_of_them_hold() {
    assert_eq!(failing(0), []);
}

#[test]
fn with_fresh_ms_only_those_fail_that_need_a_success_at_once() {
    let failing = failing(250);
    let names: Vec<&str> = failing.iter().map(|(name, _)| name.as_str()).collect();
    let listed: Vec<&str> = LATER.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, listed, "{failing:#?}");
}
