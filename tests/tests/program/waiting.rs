//! `halfopen run --wait`.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Instant;

use halfopen::{Mode, State};
use halfopen_tests::breakers::policy;

use crate::bench::Bench;

/// A breaker that is forced open, so that each acquire is deferred by the length of the first window.
fn forced_open(bench: &Bench, open_ms: u64) -> halfopen::Breaker {
    let breaker = bench.host().breaker("pay");
    breaker.configure(&policy().open_ms(open_ms), "").unwrap();
    breaker.force(Mode::Open, None, "").unwrap();
    breaker
}

#[test]
fn a_waiting_command_acquires_at_most_once_a_wait() {
    let bench = Bench::new();
    let breaker = forced_open(&bench, 200);
    let started = Instant::now();
    let mut command = bench.command(&["run", "--wait", "pay", "--", "echo", "started"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Each deferral is one line.
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    for acquires in 1..=10 {
        let line = lines.next().unwrap().unwrap();
        assert_eq!(line, "halfopen: pay: the breaker is forced open; retrying in 200ms");
        let allowed = 1 + started.elapsed().as_millis() / 200;
        assert!(acquires <= allowed, "{acquires} acquires where {allowed} were allowed");
    }
    breaker.force(Mode::None, None, "").unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(rest.len() <= 1, "it acquired again after it was admitted: {rest:?}");
    assert!(child.wait().unwrap().success());
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
}

#[test]
fn a_short_wait_is_lengthened_to_50_ms() {
    let bench = Bench::new();
    let breaker = forced_open(&bench, 1);
    let started = Instant::now();
    let mut command = bench.command(&["run", "--wait", "--max-wait", "1s", "pay", "--", "touch", "started"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(75));
    let acquires = String::from_utf8(output.stderr).unwrap().lines().count() as u128;
    let allowed = 1 + started.elapsed().as_millis() / 50;
    assert!(acquires <= allowed, "{acquires} acquires where {allowed} were allowed");
    assert!(!bench.path("started").exists());
    assert_eq!(breaker.inspect().unwrap().calls, 0);
}

#[test]
fn a_wait_beyond_max_wait_is_not_begun() {
    let bench = Bench::with_records();
    let ran = bench.run(&["run", "--wait", "--max-wait", "50m", "pay", "--", "touch", "started"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (75, 1), "{ran:?}");
    assert!(ran.stderr.contains("which is longer than --max-wait allows"), "{ran:?}");
    assert!(!bench.path("started").exists());
}

#[test]
fn a_waiting_command_is_started_when_the_dependency_heals() {
    let bench = Bench::new();
    let breaker = bench.host().breaker("pay");
    breaker.configure(&policy().open_ms(300), "").unwrap();
    halfopen_tests::breakers::trip(&breaker);
    let ran = bench.run(&["run", "--wait", "--quiet", "pay", "--", "echo", "started"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "started\n", ""));
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
}

#[test]
fn a_waiting_command_notices_a_reset_in_a_few_seconds() {
    let bench = Bench::with_records();
    let mut command = bench.command(&["run", "--wait", "pay", "--", "echo", "started"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    // Longer than the test is patient.
    assert!(line.starts_with("halfopen: pay: the breaker is open; retrying in "), "{line}");
    bench.host().breaker("pay").reset("").unwrap();
    assert!(child.wait().unwrap().success());
    line.clear();
    stderr.read_line(&mut line).unwrap();
    assert_eq!(line, "", "one line for one wait");
}

#[test]
fn a_wait_ends_with_what_is_forced() {
    let bench = Bench::new();
    let breaker = bench.host().breaker("pay");
    breaker.configure(&policy().open_ms(halfopen_tests::breakers::LONG_MS).jitter_percent(50), "").unwrap();
    breaker.force(Mode::Open, Some(std::time::Duration::from_millis(2_500)), "").unwrap();
    let ran = bench.run(&["run", "--wait", "--max-wait", "2500ms", "pay", "--", "echo", "started"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "started\n"), "{ran:?}");
}
