//! The scenarios through local admission: as a program that embeds a breaker sees them.

use std::path::{Path, PathBuf};

use fastrand::Rng;
use halfopen::replay::{Replay, Scenario};
use serde_json::{Value, json};

/// Those that do not hold with `fresh_ms = 250`, each with its reason: a success that is handed over later is judged
/// together with others, and dated when it is handed over. None of the files depends on either: whatever speaks to the
/// store hands over before, so that a process sees what it has counted.
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

/// A scenario of so many random steps, without expectations. Where a success is handed over later, none of its rules
/// depends on when: no rates, a window that nothing leaves, no override that ends by itself.
fn random(seed: u64, fresh_ms: u64) -> Vec<u8> {
    let mut random = Rng::with_seed(seed);
    let later = fresh_ms > 0;
    let policy = json!({
        "fresh_ms": fresh_ms, "jitter_percent": 0, "open_ms": 300, "open_max_ms": 2_000, "lease_ms": 400,
        "probe_max_ms": 1_000, "consecutive_failures": random.u32(1..4), "probes": random.u32(1..3),
        "successes_to_close": random.u32(1..3), "lost_probe": if random.bool() { "reprobe" } else { "reopen" },
        "failure_rate": if later { Value::Null } else { json!({"percent": 50, "minimum_calls": 4}) },
        "slow_calls": if later { Value::Null } else { json!({"slower_than_ms": 100, "percent": 60, "minimum_calls": 4}) },
        "window": if later { json!({"ms": 86_400_000}) } else { json!({"ms": 1_000}) },
    });
    let mut lines = vec![json!({"scenario": "random", "policy": policy.clone()})];
    let mut now: u64 = 1_000_000_000;
    for _ in 0..80 {
        now += [0, 0, 1, 50, 249, 250, 251, 300, 400][random.usize(..9)];
        if random.u32(..40) == 0 {
            now -= random.u64(2_000..5_000);
        }
        let by = ["A", "B", "C"][random.usize(..3)];
        let step = match random.u32(..100) {
            0..40 => json!({"do": "acquire"}),
            40..75 => {
                let outcome = ["success", "success", "failure", "timeout", "ignored"][random.usize(..5)];
                json!({"do": "report", "outcome": outcome, "took_ms": random.u64(..200)})
            }
            75..80 => json!({"do": "inspect"}),
            80..84 => json!({"do": "renew"}),
            84..88 => json!({"do": "release"}),
            88..91 => json!({"do": "tally", "successes": random.u64(..3), "failures": random.u64(..3)}),
            91..94 => {
                let mode = ["open", "closed", "none", "none"][random.usize(..4)];
                let mut step = json!({"do": "force", "mode": mode});
                if !later && random.bool() {
                    step["lasting_ms"] = random.u64(1..500).into();
                }
                step
            }
            94..96 => json!({"do": "restart"}),
            96..98 => {
                let mut policy = policy.clone();
                policy["consecutive_failures"] = random.u32(1..4).into();
                json!({"do": "configure", "policy": policy})
            }
            98 => json!({"do": "reset"}),
            _ => json!({"do": "forget"}),
        };
        let mut line = json!({"at": now, "by": by});
        for (key, value) in step.as_object().unwrap() {
            line[key] = value.clone();
        }
        lines.push(line);
    }
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n").into_bytes()
}

/// What each step is answered.
fn answers(text: &[u8], local_admission: bool) -> Vec<String> {
    let scenario = Scenario::parse(text).unwrap();
    let mut answers = Vec::new();
    let replay = Replay::in_memory().local_admission(local_admission);
    replay.run_showing(&scenario, |answer| answers.push(format!("{}: {}", answer.line, answer.text))).unwrap();
    answers
}

#[test]
fn whatever_the_steps_the_answers_are_those_of_the_component() {
    for fresh_ms in [0, 250] {
        for seed in 0..400 {
            let text = random(seed, fresh_ms);
            let (ours, wanted) = (answers(&text, true), answers(&text, false));
            let differing = ours.iter().zip(&wanted).find(|(ours, wanted)| ours != wanted);
            assert_eq!(differing, None, "seed {seed}, fresh_ms {fresh_ms}:\n{}", String::from_utf8_lossy(&text));
            assert_eq!(ours.len(), wanted.len());
        }
    }
}
