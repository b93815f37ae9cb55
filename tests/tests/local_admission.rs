//! The scenarios through local admission: as a program that embeds a breaker sees them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use halfopen::replay::{Answer, Replay, Scenario};
use halfopen::store::MemoryStore;
use halfopen::{Breaker, Clock as _, Decision, Host, ManualClock, Mode, Outcome, PermitGuard, Policy, Ramp};
use serde_json::{Value, json};

/// Those that do not hold with `fresh_ms = 250`, each with its reason. There is one way to fail: a success that is handed
/// over later is dated when it is handed over, and judged together with others. Whatever speaks to the store hands over
/// before, so that a process always sees what it has counted.
const LATER: &[(&str, &str)] = &[(
    "successes-leave-the-time-window",
    "the success of 50 ms is handed over at 250 ms, so that it leaves the window 200 ms later than it should",
)];

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

/// The same, where an inspection after each report has what was counted handed over at once.
fn handing_over_at_once(text: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(text).unwrap();
    let lines = text.lines().flat_map(|line| {
        let step: Value = serde_json::from_str(line).unwrap();
        let reports = step["do"] == "report" || step["do"] == "tally";
        let mut look = json!({"at": step["at"], "do": "inspect"});
        if let Some(dependency) = step.get("dependency") {
            look["dependency"] = dependency.clone();
        }
        std::iter::once(line.to_owned()).chain(reports.then(|| look.to_string()))
    });
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}

/// What goes wrong in a scenario through local admission; none where it holds.
fn wrong(text: &[u8]) -> Option<String> {
    let report = Replay::in_memory().local_admission(true).run(&Scenario::parse(text).unwrap()).unwrap();
    let why = || report.failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    (!report.holds()).then(why)
}

/// The names of those that do not hold, with what went wrong.
fn failing(prepare: impl Fn(&Path) -> Vec<u8>) -> Vec<(String, String)> {
    let failing = files().into_iter().filter_map(|file| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        Some((name, wrong(&prepare(&file))?))
    });
    failing.collect()
}

#[test]
fn asking_every_time_all_of_them_hold() {
    assert_eq!(failing(|file| with_fresh_ms(file, 0)), []);
}

#[test]
fn with_fresh_ms_only_those_fail_that_need_a_success_at_once() {
    let failing = failing(|file| with_fresh_ms(file, 250));
    let names: Vec<&str> = failing.iter().map(|(name, _)| name.as_str()).collect();
    let listed: Vec<&str> = LATER.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, listed, "{failing:#?}");
}

#[test]
fn with_fresh_ms_and_successes_handed_over_at_once_all_of_them_hold() {
    assert_eq!(failing(|file| handing_over_at_once(&with_fresh_ms(file, 250))), []);
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

/// What each step is answered. Epochs and tokens are told by the order in which they appear: those of a new record begin
/// with its version, and where several successes are handed over in one commit there are fewer versions.
fn answers(text: &[u8], local_admission: bool) -> Vec<String> {
    let scenario = Scenario::parse(text).unwrap();
    let (mut answers, mut seen) = (Vec::new(), Vec::new());
    let mut named = |word: &str| {
        let number = word.trim_end_matches([',', ';']).to_owned();
        let place = seen.iter().position(|other| *other == number).unwrap_or_else(|| {
            seen.push(number.clone());
            seen.len() - 1
        });
        format!("#{place}")
    };
    let replay = Replay::in_memory().local_admission(local_admission);
    let show = |answer: &Answer<'_>| {
        let mut last = "";
        let words = answer.text.split(' ').map(|word| {
            let of_record = ["epoch", "token"].contains(&std::mem::replace(&mut last, word));
            if of_record { named(word) } else { word.to_owned() }
        });
        answers.push(format!("{}: {}", answer.line, words.collect::<Vec<_>>().join(" ")));
    };
    replay.run_showing(&scenario, show).unwrap();
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

/// A process: its host, its breaker, and the calls that are under way.
struct Process {
    breaker: Breaker,
    calls: Vec<PermitGuard>,
}

/// Whatever some processes do, at each step one of them, and however their steps fall: from memory no call is admitted
/// later than `fresh_ms` after its epoch has ended, and no lease is granted.
#[test]
fn of_several_processes_none_admits_later_than_fresh_ms_after_another_tripped_and_none_leases_from_memory() {
    const PROBES: usize = 2;
    let mut admitted_late = 0;
    for seed in 0..200 {
        let mut random = Rng::with_seed(seed);
        let fresh_ms = [1, 20, 250][random.usize(..3)];
        let policy = Policy {
            fresh_ms,
            consecutive_failures: 2,
            probes: PROBES as u32,
            open_ms: 30,
            lease_ms: 100,
            ramp: random.bool().then_some(Ramp { over_ms: 300, from_percent: 30 }),
            ..Policy::default()
        };
        let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::new(1_000_000)));
        let host = |local_admission| {
            let builder = Host::builder().shared_store(store.clone()).clock(clock.clone()).seed(seed);
            builder.default_policy(policy).local_admission(local_admission).build().unwrap()
        };
        let observer = host(false).breaker("a");
        let start = || Process { breaker: host(true).breaker("a"), calls: Vec::new() };
        let mut processes: Vec<Process> = (0..3).map(|_| start()).collect();
        let mut token = 0;
        for _ in 0..150 {
            clock.advance(Duration::from_millis([0, 0, 0, 1, 5, 19, 20, 30][random.usize(..8)]));
            let process = &mut processes[random.usize(..3)];
            match random.u32(..100) {
                0..55 => match process.breaker.acquire().unwrap() {
                    Decision::Defer(_) => {}
                    Decision::Probe(guard) => {
                        let leases = observer.inspect().unwrap().leases;
                        assert!(leases.len() <= PROBES, "seed {seed}: {leases:?}");
                        assert!(guard.token() > Some(token), "seed {seed}: a lease from memory");
                        assert!(leases.iter().any(|lease| Some(lease.token) == guard.token()), "seed {seed}");
                        token = guard.token().unwrap();
                        process.calls.push(guard);
                    }
                    Decision::Proceed(guard) => {
                        let history = observer.history(usize::MAX).unwrap();
                        if let Some(ended) = history.iter().find(|change| change.epoch > guard.permit().epoch) {
                            let late = clock.now() - ended.at;
                            assert!(late < fresh_ms, "seed {seed}: {late} ms after {ended:?}");
                            admitted_late += 1;
                        }
                        process.calls.push(guard);
                    }
                },
                55..90 if !process.calls.is_empty() => {
                    let call = process.calls.swap_remove(random.usize(..process.calls.len()));
                    let outcome = [Outcome::Success, Outcome::Failure, Outcome::Ignored][random.usize(..3)];
                    call.report(outcome, None).unwrap();
                }
                90..92 => drop(process.breaker.force(Mode::Open, None, "").unwrap()),
                92..97 => drop(process.breaker.force(Mode::None, None, "").unwrap()),
                97 => {
                    // A crash: nothing is said any more.
                    let crashed = std::mem::replace(process, start());
                    std::mem::forget(crashed);
                }
                _ => {}
            }
        }
    }
    assert!(admitted_late > 0, "nothing was put to the test");
}
