//! Replay files on the rules alone, on a store in memory.

use std::collections::HashMap;
use std::path::Path;

use halfopen_guest::contract::{Decision, Mode, Operator, Outcome, Permit, Report, Tally, Verdict};
use halfopen_guest::policy::Policy;
use halfopen_guest::step::{Answer, Request};
use serde_json::{Map, Value, json};

use super::{SEEDED, World};

/// Runs a file; the error names the first line whose expectation does not hold.
pub fn run(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(|(at, line)| {
        let step: Value = serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1))?;
        Ok::<_, String>((at + 1, step))
    });
    let (_, first) = lines.next().ok_or("empty")??;
    let default = first.get("policy").map(Value::to_string).unwrap_or_else(|| "{}".into());
    let policy = Policy::parse(&default).map_err(|faults| format!("{faults:?}"))?;
    let mut player = Player {
        world: World { random: SEEDED, ..World::with(policy) },
        dependency: first["dependency"].as_str().unwrap_or("payments").to_owned(),
        permits: HashMap::new(),
    };
    for line in lines {
        let (number, step) = line?;
        player.play(&step).map_err(|why| format!("line {number}: {why}"))?;
    }
    Ok(())
}

/// The next number of a seeded generator.
pub fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

struct Player {
    world: World,
    dependency: String,
    permits: HashMap<(String, String), Permit>,
}

impl Player {
    fn play(&mut self, step: &Value) -> Result<(), String> {
        self.world.now = step["at"].as_u64().ok_or("no instant")?;
        let dependency = text(step, "dependency").unwrap_or(&self.dependency).to_owned();
        let by = text(step, "by").unwrap_or("A");
        match text(step, "do").ok_or("no verb")? {
            "acquire" => self.acquire(&dependency, by, step)?,
            "inspect" => {
                let shown = self.inspect(&dependency)?;
                for (key, wanted) in step["expect"].as_object().unwrap_or(&Map::new()) {
                    expect(wanted, &shown_as_expected(&shown, key)).map_err(|why| format!("{key}: {why}"))?;
                }
            }
            verb @ ("report" | "tally" | "renew" | "release") => {
                let name = (dependency.clone(), text(step, "permit").unwrap_or(by).to_owned());
                let permit = *self.permits.get(&name).ok_or("a permit that was not granted")?;
                let times = step["times"].as_u64().unwrap_or(1);
                let mut last = json!(null);
                for _ in 0..times {
                    last = match self.world.ask_of(&dependency, settling(verb, permit, by, step)) {
                        Ok(Answer::Receipt(receipt)) if receipt.verdict == Verdict::Applied => json!("applied"),
                        Ok(Answer::Receipt(_)) => json!("stale"),
                        other => return Err(format!("{other:?}")),
                    };
                }
                step.get("expect").map_or(Ok(()), |wanted| expect(wanted, &last))?;
            }
            "restart" => {}
            verb => {
                let refused = self.world.ask_of(&dependency, control(verb, step)).is_err();
                if refused != (text(step, "expect") == Some("error")) {
                    return Err(format!("refused: {refused}"));
                }
            }
        }
        match step.get("state") {
            Some(wanted) => expect(wanted, &self.inspect(&dependency)?["state"]),
            None => Ok(()),
        }
    }

    fn acquire(&mut self, dependency: &str, by: &str, step: &Value) -> Result<(), String> {
        let mut counts = HashMap::from([("proceed", 0u64), ("probe", 0), ("defer", 0)]);
        for _ in 0..step["times"].as_u64().unwrap_or(1) {
            let answer = self.world.ask_of(dependency, Request::Acquire { caller: by.into() });
            let Ok(Answer::Decision(decision)) = answer else { return Err(format!("{answer:?}")) };
            let (kind, permit, retry_after) = match decision {
                Decision::Proceed(admission) => ("proceed", Some(admission.permit), None),
                Decision::Probe(probe) => ("probe", Some(probe.permit), None),
                Decision::Defer(deferral) => ("defer", None, Some(deferral.retry_after)),
            };
            if let Some(permit) = permit {
                let name = text(step, "as").unwrap_or(by).to_owned();
                self.permits.insert((dependency.to_owned(), name), permit);
            }
            *counts.entry(kind).or_default() += 1;
            match step.get("expect") {
                Some(wanted @ Value::String(_)) => expect(wanted, &json!(kind))?,
                Some(Value::Object(wanted)) if wanted.contains_key("defer_ms") => {
                    expect(&wanted["defer_ms"], &json!(retry_after))?
                }
                _ => {}
            }
        }
        match step.get("expect") {
            Some(Value::Object(wanted)) if !wanted.contains_key("defer_ms") => {
                wanted.iter().try_for_each(|(kind, wanted)| {
                    expect(wanted, &json!(counts[kind.as_str()])).map_err(|why| format!("{kind}: {why}"))
                })
            }
            _ => Ok(()),
        }
    }

    fn inspect(&mut self, dependency: &str) -> Result<Value, String> {
        match self.world.ask_of(dependency, Request::Inspect) {
            Ok(Answer::Inspection(shown)) => serde_json::from_str(&shown).map_err(|error| error.to_string()),
            other => Err(format!("{other:?}")),
        }
    }
}

fn text<'s>(step: &'s Value, key: &str) -> Option<&'s str> {
    step[key].as_str()
}

fn owned(step: &Value, key: &str) -> String {
    text(step, key).unwrap_or_default().to_owned()
}

fn settling(verb: &str, permit: Permit, by: &str, step: &Value) -> Request {
    let number = |key: &str| step[key].as_u64();
    let (caller, cause, retry_after) = (by.to_owned(), owned(step, "cause"), number("retry_after_ms"));
    let outcome = match text(step, "outcome") {
        Some("failure") => Outcome::Failure,
        Some("timeout") => Outcome::Timeout,
        Some("ignored") => Outcome::Ignored,
        _ => Outcome::Success,
    };
    let count = |key: &str| number(key).unwrap_or(0);
    match verb {
        "report" => {
            let report = Report { outcome, took: number("took_ms"), caller, cause, retry_after };
            Request::Report { permit, report }
        }
        "tally" => {
            let tally = Tally {
                successes: count("successes"),
                slow_successes: count("slow_successes"),
                failures: count("failures"),
                slow_failures: count("slow_failures"),
                caller,
                cause,
                retry_after,
            };
            Request::ReportTally { permit, tally }
        }
        "renew" => Request::Renew { permit },
        _ => Request::Release { permit },
    }
}

fn control(verb: &str, step: &Value) -> Request {
    let operator = Operator { by: owned(step, "by"), note: owned(step, "note") };
    match verb {
        "configure" => {
            let policy = (!step["policy"].is_null()).then(|| step["policy"].to_string());
            Request::Configure { policy, operator }
        }
        "force" => {
            let mode = match text(step, "mode") {
                Some("open") => Mode::Open,
                Some("closed") => Mode::Closed,
                _ => Mode::None,
            };
            Request::Force { mode, lasting: step["lasting_ms"].as_u64(), operator }
        }
        "reset" => Request::Reset { operator },
        "forget" => Request::Forget { operator },
        other => panic!("no such step: {other}"),
    }
}

/// A field of an inspection in the form of the replay format.
fn shown_as_expected(shown: &Value, key: &str) -> Value {
    match key {
        "override" => match shown["override"]["mode"].as_str() {
            Some(mode) => json!(format!("forced-{mode}")),
            None => json!("none"),
        },
        "leases" => json!(shown["leases"].as_array().map(Vec::len)),
        _ => shown[key].clone(),
    }
}

fn expect(wanted: &Value, got: &Value) -> Result<(), String> {
    let holds = match (wanted, got) {
        (Value::Array(range), got) => match (range[0].as_u64(), got.as_u64(), range[1].as_u64()) {
            (Some(low), Some(got), Some(high)) => low <= got && got <= high,
            _ => false,
        },
        (Value::Object(fields), Value::Object(got)) => fields.iter().all(|(key, value)| got.get(key) == Some(value)),
        _ => wanted == got,
    };
    if holds { Ok(()) } else { Err(format!("wanted {wanted}, got {got}")) }
}
