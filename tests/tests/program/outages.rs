//! `halfopen run` and the commands of operators during an outage of the store.

use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::Stdio;

use halfopen::{Breaker, Policy, State};
use halfopen_tests::breakers::{address, host, make_due, policy, until};
use halfopen_tests::program::program;
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, Ran};

/// A bench with its store in a folder that can be moved away.
struct Movable {
    bench: Bench,
    store: PathBuf,
}

/// Moves the store away, in the folder of the bench.
const AWAY: &str = "mv store away";

impl Movable {
    fn new() -> Movable {
        let bench = Bench::new();
        fs::create_dir(bench.path("store")).unwrap();
        let store = bench.path("store/breakers.db");
        Movable { bench, store }
    }

    fn breaker(&self, policy: &Policy) -> Breaker {
        let breaker = host(&self.store, &Policy::default()).breaker("pay");
        breaker.configure(policy, "").unwrap();
        breaker
    }

    fn away(&self) {
        fs::rename(self.bench.path("store"), self.bench.path("away")).unwrap();
    }

    fn back(&self) {
        fs::rename(self.bench.path("away"), self.bench.path("store")).unwrap();
    }

    fn command(&self, words: &[&str]) -> std::process::Command {
        let mut command = self.bench.command(words);
        command.env("HALFOPEN_STORE", address(&self.store));
        command
    }

    fn run(&self, words: &[&str]) -> Ran {
        crate::bench::ran(&mut self.command(words))
    }
}

#[test]
fn a_result_that_the_store_takes_later_counts() {
    let place = Movable::new();
    let breaker = place.breaker(&policy());
    let script = format!("{AWAY}; (sleep 1; mv away store) >/dev/null 2>&1 & sleep 0.3; exit 7");
    let ran = place.run(&["run", "pay", "--", "sh", "-c", &script]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (7, 2), "{ran:?}");
    assert!(
        ran.stderr.contains("the command's result (failure) was recorded") && ran.stderr.contains(" late: "),
        "{ran:?}"
    );
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
}

#[test]
fn a_late_result_that_does_not_count_is_not_called_recorded() {
    let place = Movable::new();
    place.breaker(&policy());
    // Meanwhile the breaker opens, so that the permit is of an earlier epoch.
    let script = format!(
        "{AWAY}; HALFOPEN_STORE=sqlite:$PWD/away/breakers.db \"$0\" run --quiet pay -- false; \
         (sleep 1; mv away store) >/dev/null 2>&1 & sleep 0.3; exit 7"
    );
    let ran = place.run(&["run", "pay", "--", "sh", "-c", &script, program().to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (7, 1), "{ran:?}");
    assert!(ran.stderr.contains("the command's result came too late and does not count ("), "{ran:?}");
}

#[test]
fn the_result_of_a_probe_is_retried_until_its_lease_has_ended() {
    let place = Movable::new();
    let breaker = place.breaker(&policy().lease_ms(1_000));
    make_due(&breaker);
    let ran = place.run(&["run", "pay", "--", "sh", "-c", &format!("{AWAY}; exit 0")]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (0, 1), "{ran:?}");
    assert!(ran.stderr.contains("the command has run, but its result (success) could not be recorded: "), "{ran:?}");
    place.back();
    assert_eq!(breaker.inspect().unwrap().state, State::HalfOpen);
}

#[test]
fn a_signal_ends_the_retries_of_a_report() {
    let place = Movable::new();
    // With a lease that outlasts the test.
    make_due(&place.breaker(&policy()));
    let script = format!("trap '' TERM; {AWAY}; touch ended; exit 7");
    let mut command = place.command(&["run", "pay", "--", "sh", "-c", &script]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    until("the command has ended", || place.bench.path("ended").exists().then_some(()));
    // The command ignores a signal that still reaches it; the next one arrives between two attempts.
    let status = until("the program ends", || {
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        child.try_wait().unwrap()
    });
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!(status.code(), Some(7), "{stderr}");
    assert!(stderr.contains("could not be recorded: "), "{stderr}");
}

#[test]
fn a_store_that_is_not_available_is_not_waited_for() {
    let place = Movable::new();
    place.breaker(&policy());
    place.away();
    let ran = place.run(&["run", "--wait", "pay", "--", "true"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (69, 1), "{ran:?}");
    assert!(ran.stderr.contains("--wait waits for the dependency, not for the store (see --store-retry): "), "{ran:?}");
}

#[test]
fn an_operators_act_in_an_outage_fails_without_later_effect() {
    let place = Movable::new();
    let breaker = place.breaker(&policy());
    let before = breaker.history(10).unwrap();
    place.away();
    for words in [&["force", "pay", "open"][..], &["reset", "pay"], &["forget", "pay"]] {
        let ran = place.run(words);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.lines().count()), (69, "", 1), "{ran:?}");
    }
    place.back();
    assert_eq!(place.run(&["run", "pay", "--", "true"]).code, 0);
    let seen = breaker.inspect().unwrap();
    assert!(seen.forced.is_none() && breaker.history(10).unwrap() == before, "{seen:?}");
}

#[test]
fn a_store_that_is_away_for_a_moment_is_retried() {
    let place = Movable::new();
    place.breaker(&policy());
    place.away();
    let mut child = place.command(&["run", "--store-retry", "1h", "pay", "--", "touch", "started"]).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none() && !place.bench.path("started").exists());
    place.back();
    assert!(child.wait().unwrap().success() && place.bench.path("started").exists());

    place.away();
    for (choice, code) in [("fail-closed", 69), ("fail-open", 0)] {
        let ran = place.run(&["run", "--store-retry", "100ms", "--on-store-error", choice, "pay", "--", "true"]);
        assert_eq!((ran.code, ran.stderr.lines().count()), (code, 1), "{ran:?}");
    }
}
