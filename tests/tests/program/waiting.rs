//! `halfopen run --wait`.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::time::Instant;

use halfopen::{Mode, Policy, State};
use halfopen_tests::breakers::policy;

use crate::bench::Bench;

/// Forced open, so that each question is deferred by the length of the first window.
fn forced_open(bench: &Bench, open_ms: u64) -> halfopen::Breaker {
    let breaker = bench.host().breaker("pay");
    breaker.configure(&Policy { open_ms, ..policy() }).unwrap();
    breaker.force(Mode::Open, None, "").unwrap();
    breaker
}

#[test]
fn it_asks_no_more_often_than_it_is_told_to() {
    let bench = Bench::new();
    let breaker = forced_open(&bench, 200);
    let started = Instant::now();
    let mut command = bench.command(&["run", "--wait", "pay", "--", "echo", "started"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Each question that is deferred is one line.
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    for asked in 1..=10 {
        let line = lines.next().unwrap().unwrap();
        assert_eq!(line, "halfopen: pay: the breaker is forced open; asking again in 200ms");
        let allowed = 1 + started.elapsed().as_millis() / 200;
        assert!(asked <= allowed, "{asked} questions where {allowed} were allowed");
    }
    breaker.force(Mode::None, None, "").unwrap();
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(rest.len() <= 1, "it asked again after it was let in: {rest:?}");
    assert!(child.wait().unwrap().success());
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
}

#[test]
fn however_short_the_wait_it_never_asks_in_a_tight_loop() {
    let bench = Bench::new();
    let breaker = forced_open(&bench, 1);
    let started = Instant::now();
    let mut command = bench.command(&["run", "--wait", "--max-wait", "1s", "pay", "--", "touch", "started"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(75));
    let asked = String::from_utf8(output.stderr).unwrap().lines().count() as u128;
    let allowed = 1 + started.elapsed().as_millis() / 50;
    assert!(asked <= allowed, "{asked} questions where {allowed} were allowed");
    assert!(!bench.path("started").exists());
    assert_eq!(breaker.inspect().unwrap().calls, 0);
}

#[test]
fn a_wait_that_is_longer_than_allowed_is_not_begun() {
    let bench = Bench::with_records();
    let ran = bench.run(&["run", "--wait", "--max-wait", "50m", "pay", "--", "touch", "started"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (75, 1), "{ran:?}");
    assert!(ran.stderr.contains("which is longer than --max-wait allows"), "{ran:?}");
    assert!(!bench.path("started").exists());
}

#[test]
fn who_waits_for_a_dependency_that_heals_is_let_in() {
    let bench = Bench::new();
    let breaker = bench.host().breaker("pay");
    breaker.configure(&Policy { open_ms: 300, ..policy() }).unwrap();
    halfopen_tests::breakers::trip(&breaker);
    let ran = bench.run(&["run", "--wait", "--quiet", "pay", "--", "echo", "started"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "started\n", ""));
    assert_eq!(breaker.inspect().unwrap().state, State::Closed);
}
