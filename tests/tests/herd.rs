//! Herds: many processes with many callers each, on one SQLite file, all at the same moment.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Barrier;
use std::thread;

use halfopen::{Breaker, Decision, Outcome, Policy, State, TransitionReason, Window};
use halfopen_tests::breakers::{host, make_due, policy};
use halfopen_tests::process::{Process, order, play, say};
use halfopen_tests::{harness, tests};

const PROCESSES: usize = 8;
const CALLERS: usize = 125;

const REPORTING_PROCESSES: usize = 5;
const REPORTERS: usize = 10;

fn main() -> ExitCode {
    play(&[("callers", callers), ("reporters", reporters)]);
    harness::run(tests![
        of_a_thousand_callers_in_eight_processes_exactly_one_probes,
        fifty_failures_reported_at_once_are_all_counted,
        of_fifty_failures_reported_at_once_exactly_the_last_one_trips,
    ])
}

/// Runs so many threads that wait for the order and then act together, and says what each came to.
fn together(many: usize, act: impl Fn() -> String + Sync) {
    let start = Barrier::new(many + 1);
    let answers: Vec<String> = thread::scope(|scope| {
        let thread = || {
            start.wait();
            act()
        };
        let threads: Vec<_> = (0..many).map(|_| scope.spawn(thread)).collect();
        say("ready");
        let _go = order();
        start.wait();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| "panicked".to_owned())).collect()
    });
    answers.iter().for_each(say);
}

/// Starts the processes of a herd, lets them act at the same moment, and counts what they came to.
fn herd(role: &str, processes: usize, file: &Path) -> BTreeMap<String, usize> {
    let file = file.to_str().expect("tests use plain paths");
    let mut herd: Vec<Process> = (0..processes).map(|_| Process::start(role, &[file])).collect();
    for process in &mut herd {
        assert_eq!(process.answer(), "ready");
    }
    herd.iter_mut().for_each(|process| process.tell("go"));
    let mut counts = BTreeMap::new();
    for process in &mut herd {
        while let Some(answer) = process.next_answer() {
            *counts.entry(answer).or_default() += 1;
        }
        assert!(process.wait().success());
    }
    counts
}

fn counts(wanted: &[(&str, usize)]) -> BTreeMap<String, usize> {
    wanted.iter().map(|(answer, count)| ((*answer).to_owned(), *count)).collect()
}

fn callers(words: &[String]) {
    let breaker = host(Path::new(&words[0]), &policy()).breaker("pay");
    together(CALLERS, || match breaker.acquire() {
        Ok(Decision::Probe(guard)) => {
            guard.into_permit();
            "probe".to_owned()
        }
        Ok(Decision::Proceed(_)) => "proceed".to_owned(),
        Ok(Decision::Defer(deferral)) => format!("defer {}", deferral.reason),
        Err(error) => format!("error: {error}"),
    });
}

fn of_a_thousand_callers_in_eight_processes_exactly_one_probes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let breaker = host(&file, &policy()).breaker("pay");
    make_due(&breaker);

    assert_eq!(herd("callers", PROCESSES, &file), counts(&[("probe", 1), ("defer probing", PROCESSES * CALLERS - 1)]));

    let seen = breaker.inspect().unwrap();
    assert_eq!((seen.state, seen.leases.len()), (State::HalfOpen, 1));
    let reasons: Vec<_> = breaker.history(10).unwrap().into_iter().map(|change| change.reason).collect();
    assert_eq!(reasons, [TransitionReason::ConsecutiveFailures, TransitionReason::ProbeDue]);
}

/// Never trips; what is reported stays in the window.
fn counting() -> Policy {
    Policy { consecutive_failures: 0, window: Window::Ms(86_400_000), ..policy() }
}

fn reporters(words: &[String]) {
    let breaker: Breaker = host(Path::new(&words[0]), &policy()).breaker("pay");
    let permit = match breaker.acquire() {
        Ok(Decision::Proceed(guard)) => guard.into_permit(),
        other => panic!("{other:?}"),
    };
    together(REPORTERS, || match breaker.report(permit, Outcome::Failure, None) {
        Ok(receipt) if receipt.is_applied() && receipt.transitions.is_empty() => "counted".to_owned(),
        Ok(receipt) if receipt.is_applied() => format!("counted, and it is {}", receipt.state),
        Ok(receipt) => format!("{:?}", receipt.verdict),
        Err(error) => format!("error: {error}"),
    });
}

fn fifty_failures_reported_at_once_are_all_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let breaker = host(&file, &policy()).breaker("pay");
    breaker.configure(&counting()).unwrap();

    assert_eq!(herd("reporters", REPORTING_PROCESSES, &file), counts(&[("counted", 50)]));

    let seen = breaker.inspect().unwrap();
    assert_eq!((seen.state, seen.calls, seen.failures, seen.failures_in_row), (State::Closed, 50, 50, 50));
}

fn of_fifty_failures_reported_at_once_exactly_the_last_one_trips() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let breaker = host(&file, &policy()).breaker("pay");
    breaker.configure(&Policy { consecutive_failures: 50, ..counting() }).unwrap();

    let wanted = counts(&[("counted", 49), ("counted, and it is open", 1)]);
    assert_eq!(herd("reporters", REPORTING_PROCESSES, &file), wanted);
    assert_eq!(breaker.history(10).unwrap().len(), 1);
}
