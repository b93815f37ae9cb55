use std::io;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::Signal;

use super::signals::Arrived;
use super::supervisor::Event;
use super::*;

fn shell(script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    command
}

fn limit(timeout_ms: u64, kill_after_ms: u64) -> Option<TimeLimit> {
    let [timeout, kill_after] = [timeout_ms, kill_after_ms].map(Duration::from_millis);
    Some(TimeLimit { timeout, kill_after })
}

#[test]
fn a_status_is_the_one_that_shells_give() {
    let supervisor = Supervisor::new().unwrap();
    assert_eq!(supervisor.run(&mut shell("exit 0"), None).unwrap().code(), 0);
    assert_eq!(supervisor.run(&mut shell("exit 7"), limit(60_000, 1)).unwrap().code(), 7);
    let killed = supervisor.run(&mut shell("kill -KILL $$"), None).unwrap();
    assert_eq!((killed.code(), killed.timed_out, killed.interrupted), (137, false, false));
}

#[test]
fn a_signal_interrupts_work_after_a_moment_of_grace() {
    let supervisor = Supervisor::new().unwrap();
    assert!(matches!(supervisor.during(|| 7), Interruptible::Done(7)));
    let send = |supervisor: &Supervisor, signal| {
        supervisor.sender.send(Event::Signal(Arrived { signal, sent_by_process: true })).unwrap();
    };
    let (end, ended) = mpsc::channel::<()>();
    send(&supervisor, Signal::TERM);
    let cut_short = supervisor.during(move || ended.recv().is_ok());
    let is_cut_short = matches!(cut_short, Interruptible::Interrupted { signal: Signal::TERM, result: None });
    assert!(is_cut_short, "{cut_short:?}");
    drop(end);

    let supervisor = Supervisor::new().unwrap();
    send(&supervisor, Signal::INT);
    let done = supervisor.during(|| 7);
    let is_done = matches!(done, Interruptible::Interrupted { signal: Signal::INT, result: Some(7) });
    assert!(is_done, "{done:?}");
}

#[test]
fn a_command_that_cannot_be_started_is_an_error() {
    let supervisor = Supervisor::new().unwrap();
    let error = supervisor.run(&mut Command::new("/nonexistent/command"), None).unwrap_err();
    assert!(matches!(error, CommandError::NotStarted(error) if error.kind() == io::ErrorKind::NotFound));
}

#[test]
fn the_time_limit_ends_even_a_command_that_ignores_term() {
    let supervisor = Supervisor::new().unwrap();
    let ended = supervisor.run(&mut shell("sleep 600"), limit(50, 60_000)).unwrap();
    assert_eq!((ended.timed_out, ended.code()), (true, 143));
    let stubborn = supervisor.run(&mut shell("trap '' TERM; while :; do sleep 600; done"), limit(1_000, 100)).unwrap();
    assert_eq!((stubborn.timed_out, stubborn.code()), (true, 137));
}
