//! The scenarios through local admission: as a program that embeds a breaker sees them.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use halfopen::engine::{Answer, Operation, Request};
use halfopen::store::MemoryStore;
use halfopen::{
    Admission, Breaker, BreakerError, Clock as _, Decision, Host, ManualClock, Mode, OpenError, Outcome, Permit,
    PermitGuard, Policy, Receipt, Recorded, State, Verdict,
};
use halfopen_contract::types::{self, Probe, millis};
use halfopen_replay::{Replay, Scenario, Setup, StepAnswer, Target};
use serde_json::{Value, json};

/// The files that do not hold with `fresh_ms = 250`, each with its reason. There is one reason: a success that is flushed
/// later is dated when it is flushed, and judged together with others. Every operation that goes to the store flushes before,
/// so that a process always sees its own successes.
const LATER: &[(&str, &str)] = &[(
    "successes-leave-the-time-window",
    "the success of 50 ms is flushed at 250 ms, so that it leaves the window 200 ms later than it should",
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
        let is_taken_back = step.get("policy").is_some_and(Value::is_null);
        if number == 0 || step.get("do").is_some_and(|action| action == "configure") && !is_taken_back {
            let policy = step.entry("policy").or_insert_with(|| Value::Object(serde_json::Map::new()));
            policy["fresh_ms"] = fresh_ms.into();
        }
        Value::Object(step).to_string()
    });
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}

/// The same, with an inspection after each report, which flushes the successes at once.
fn flushing_at_once(text: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(text).unwrap();
    let lines = text.lines().flat_map(|line| {
        let step: Value = serde_json::from_str(line).unwrap();
        let reports = step["do"] == "report" || step["do"] == "tally";
        let mut inspect = json!({"at": step["at"], "do": "inspect"});
        if let Some(dependency) = step.get("dependency") {
            inspect["dependency"] = dependency.clone();
        }
        std::iter::once(line.to_owned()).chain(reports.then(|| inspect.to_string()))
    });
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}

/// A host with local admission, as a program uses it: with a guard for each permit.
struct LocalTarget {
    host: Host,
    guards: Vec<(Arc<str>, PermitGuard)>,
}

impl LocalTarget {
    fn open(setup: Setup) -> Result<Box<dyn Target>, OpenError> {
        let builder = Host::builder().native().shared_store(setup.store).clock(setup.clock).seed(setup.seed);
        let host = builder.namespace(&setup.namespace).default_policy(setup.default_policy).build()?;
        Ok(Box::new(LocalTarget { host, guards: Vec::new() }))
    }

    /// The decision as plain data. Its guard is kept.
    fn keep(&mut self, dependency: &Arc<str>, decision: Decision) -> types::Decision {
        let (plain, guard) = match decision {
            Decision::Defer(deferral) => return types::Decision::Defer(deferral),
            Decision::Probe(guard) => {
                let expires_in = guard.expires_in().map_or(0, millis);
                let slower_than = guard.slower_than().map(millis);
                (types::Decision::Probe(Probe { permit: guard.permit(), expires_in, slower_than }), guard)
            }
            Decision::Proceed(guard) => {
                let (fresh_for, percent) = (millis(guard.fresh_for()), guard.percent());
                let slower_than = guard.slower_than().map(millis);
                let admission = Admission { permit: guard.permit(), fresh_for, percent, slower_than };
                (types::Decision::Proceed(admission), guard)
            }
        };
        self.guards.push((dependency.clone(), guard));
        plain
    }

    fn guard(&mut self, dependency: &str, permit: Permit) -> Option<PermitGuard> {
        let is_it = |(of, guard): &(Arc<str>, PermitGuard)| **of == *dependency && guard.permit() == permit;
        let at = self.guards.iter().position(is_it)?;
        Some(self.guards.swap_remove(at).1)
    }
}

impl Target for LocalTarget {
    fn run(&mut self, request: &Request) -> Result<Answer, BreakerError> {
        let breaker = self.host.breaker(&*request.dependency);
        let (permit, report) = match request.operation.clone() {
            Operation::Acquire { caller } => {
                let decision = breaker.caller(&*caller).acquire()?;
                return Ok(Answer::Decision(self.keep(&request.dependency, decision)));
            }
            Operation::Report { permit, report } => (permit, report),
            Operation::Release { permit } => (permit, Outcome::Ignored.into()),
            other => return breaker.perform(other),
        };
        let Some(guard) = self.guard(&request.dependency, permit) else {
            return breaker.perform(request.operation.clone());
        };
        Ok(Answer::Receipt(match guard.report(report)? {
            Recorded::Now(receipt) => receipt,
            // It counts, as far as the caller can see.
            Recorded::Later | Recorded::Nothing => {
                Receipt { verdict: Verdict::Applied, state: State::Closed, next_due: None }
            }
        }))
    }
}

impl Drop for LocalTarget {
    fn drop(&mut self) {
        // The permits stay out.
        for (_, guard) in self.guards.drain(..) {
            guard.into_permit();
        }
    }
}

/// A replay through local admission, or without it.
fn replay(local_admission: bool) -> Replay {
    if local_admission { Replay::new(LocalTarget::open) } else { Replay::host(|host| host.native()) }
}

/// The failures of a scenario through local admission; none where it holds.
fn failures(text: &[u8]) -> Option<String> {
    let summary = replay(true).run(&Scenario::parse(text).unwrap()).unwrap();
    let why = || summary.failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    (!summary.holds()).then(why)
}

/// The names of the files that do not hold, with their failures.
fn failing(prepare: impl Fn(&Path) -> Vec<u8>) -> Vec<(String, String)> {
    let failing = files().into_iter().filter_map(|file| {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        Some((name, failures(&prepare(&file))?))
    });
    failing.collect()
}

#[test]
fn without_cached_decisions_all_scenarios_hold() {
    assert_eq!(failing(|file| with_fresh_ms(file, 0)), []);
}

#[test]
fn cached_decisions_fail_only_what_needs_a_success_at_once() {
    let failing = failing(|file| with_fresh_ms(file, 250));
    let names: Vec<&str> = failing.iter().map(|(name, _)| name.as_str()).collect();
    let listed: Vec<&str> = LATER.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, listed, "{failing:#?}");
}

#[test]
fn with_cached_decisions_and_a_flush_at_once_all_hold() {
    assert_eq!(failing(|file| flushing_at_once(&with_fresh_ms(file, 250))), []);
}

/// A scenario of random steps, without expectations. Where a success is flushed later, none of its rules depends on when: no rates, a window that nothing leaves, no override that ends by itself.
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

/// The answer to each step. Epochs and tokens are named by the order in which they appear: those of a new record begin with
/// its version, and where several successes are flushed in one commit there are fewer versions.
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
    let show = |answer: &StepAnswer<'_>| {
        let mut last = "";
        let words = answer.text.split(' ').map(|word| {
            let of_record = ["epoch", "token"].contains(&std::mem::replace(&mut last, word));
            if of_record { named(word) } else { word.to_owned() }
        });
        // From memory it is the rest of the wait; the engine gives the whole wait each time.
        let text = match answer.text.strip_suffix("; forced-open") {
            Some(_) => "defer; forced-open".to_owned(),
            None => words.collect::<Vec<_>>().join(" "),
        };
        answers.push(format!("{}: {text}", answer.line));
        ControlFlow::Continue(())
    };
    replay(local_admission).run_showing(&scenario, show).unwrap();
    answers
}

#[test]
fn the_answers_are_those_of_the_engine_whatever_the_steps() {
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

/// A process: its breaker, and the calls that it is making.
struct Process {
    breaker: Breaker,
    calls: Vec<PermitGuard>,
}

/// Several processes, one of which does something at each step: from memory no call is admitted later than `fresh_ms` after
/// its epoch has ended, and no lease is granted.
#[test]
fn no_process_admits_late_or_grants_a_lease_from_memory() {
    const PROBES: usize = 2;
    let mut admitted_late = 0;
    for seed in 0..200 {
        let mut random = Rng::with_seed(seed);
        let fresh_ms = [1, 20, 250][random.usize(..3)];
        let policy =
            Policy::new().fresh_ms(fresh_ms).consecutive_failures(2).probes(PROBES as u32).open_ms(30).lease_ms(100);
        let policy = if random.bool() { policy.ramp(300, 30) } else { policy };
        let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::new(1_000_000)));
        let host = |local_admission| {
            let builder = Host::builder().shared_store(store.clone()).clock(clock.clone()).seed(seed).native();
            builder.default_policy(policy.clone()).local_admission(local_admission).build().unwrap()
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
                    call.report(outcome).unwrap();
                }
                90..92 => drop(process.breaker.force(Mode::Open, None, "").unwrap()),
                92..97 => drop(process.breaker.force(Mode::None, None, "").unwrap()),
                97 => {
                    // A crash: nothing is reported.
                    let crashed = std::mem::replace(process, start());
                    std::mem::forget(crashed);
                }
                _ => {}
            }
        }
    }
    assert!(admitted_late > 0, "nothing was put to the test");
}
