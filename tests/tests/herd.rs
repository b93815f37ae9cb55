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

/// Asking every time, and answering from memory.
const FRESH_MS: [u64; 2] = [0, 250];

fn main() -> ExitCode {
    play(&[("callers", callers), ("reporters", reporters), ("succeeding", succeeding)]);
    harness::run(tests![
        of_a_thousand_callers_in_eight_processes_exactly_one_probes,
        fifty_failures_reported_at_once_are_all_counted,
        of_fifty_failures_reported_at_once_exactly_the_last_one_trips,
        successes_counted_in_memory_are_in_the_file_when_their_processes_have_ended,
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
fn herd(role: &str, processes: usize, file: &Path, fresh_ms: u64) -> BTreeMap<String, usize> {
    let (file, fresh_ms) = (file.to_str().expect("tests use plain paths"), fresh_ms.to_string());
    let mut herd: Vec<Process> = (0..processes).map(|_| Process::start(role, &[file, &fresh_ms])).collect();
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

/// In a role: the breaker that all processes of the herd share.
fn shared(words: &[String]) -> Breaker {
    let [file, fresh_ms] = words else { panic!("two words, not {words:?}") };
    let fresh_ms = fresh_ms.parse().expect("a number of ms");
    host(Path::new(file), &Policy { fresh_ms, ..policy() }).breaker("pay")
}

fn callers(words: &[String]) {
    let breaker = shared(words);
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
    for fresh_ms in FRESH_MS {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shared.db");
        let breaker = host(&file, &Policy { fresh_ms, ..policy() }).breaker("pay");
        make_due(&breaker);

        let wanted = counts(&[("probe", 1), ("defer probing", PROCESSES * CALLERS - 1)]);
        assert_eq!(herd("callers", PROCESSES, &file, fresh_ms), wanted);

        let seen = breaker.inspect().unwrap();
        assert_eq!((seen.state, seen.leases.len()), (State::HalfOpen, 1));
        let reasons: Vec<_> = breaker.history(10).unwrap().into_iter().map(|change| change.reason).collect();
        assert_eq!(reasons, [TransitionReason::ConsecutiveFailures, TransitionReason::ProbeDue]);
    }
}

/// Never trips; what is reported stays in the window.
fn counting(fresh_ms: u64) -> Policy {
    Policy { consecutive_failures: 0, window: Window::Ms(86_400_000), fresh_ms, ..policy() }
}

fn reporters(words: &[String]) {
    let breaker = shared(words);
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
    for fresh_ms in FRESH_MS {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shared.db");
        let breaker = host(&file, &policy()).breaker("pay");
        breaker.configure(&counting(fresh_ms)).unwrap();

        assert_eq!(herd("reporters", REPORTING_PROCESSES, &file, fresh_ms), counts(&[("counted", 50)]));

        let seen = breaker.inspect().unwrap();
        assert_eq!((seen.state, seen.calls, seen.failures, seen.failures_in_row), (State::Closed, 50, 50, 50));
    }
}

fn of_fifty_failures_reported_at_once_exactly_the_last_one_trips() {
    for fresh_ms in FRESH_MS {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("shared.db");
        let breaker = host(&file, &policy()).breaker("pay");
        breaker.configure(&Policy { consecutive_failures: 50, ..counting(fresh_ms) }).unwrap();

        let wanted = counts(&[("counted", 49), ("counted, and it is open", 1)]);
        assert_eq!(herd("reporters", REPORTING_PROCESSES, &file, fresh_ms), wanted);
        assert_eq!(breaker.history(10).unwrap().len(), 1);
    }
}

/// How many calls each of those who succeed makes.
const CALLS: u64 = 1_000;

fn succeeding(words: &[String]) {
    let breaker = shared(words);
    together(REPORTERS, || {
        // The last of them fails, so that what was counted is handed over in many ways.
        let call = |number| if number + 1 < CALLS { Ok(()) } else { Err("down") };
        let made = (0..CALLS).filter(|number| breaker.call(|| call(*number)).is_ok()).count();
        format!("{made} succeeded")
    });
}

fn successes_counted_in_memory_are_in_the_file_when_their_processes_have_ended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("shared.db");
    let breaker = host(&file, &policy()).breaker("pay");
    breaker.configure(&counting(250)).unwrap();

    assert_eq!(herd("succeeding", REPORTING_PROCESSES, &file, 250), counts(&[("999 succeeded", 50)]));

    let seen = breaker.inspect().unwrap();
    assert_eq!((seen.calls, seen.failures), (50 * CALLS, 50));
}
