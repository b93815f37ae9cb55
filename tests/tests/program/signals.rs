//! Signals to `halfopen run` and to the other commands.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use halfopen::State;
use halfopen_tests::breakers::{policy, until};
use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::Bench;

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Starts a command that writes a line when it has begun.
fn start(command: &mut Command) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    (child, stdout)
}

#[test]
fn signals_reach_the_command() {
    let bench = Bench::new();
    for (signal, name) in [
        (Signal::HUP, "HUP"),
        (Signal::INT, "INT"),
        (Signal::QUIT, "QUIT"),
        (Signal::TERM, "TERM"),
        (Signal::USR1, "USR1"),
        (Signal::USR2, "USR2"),
    ] {
        // A shell starts its background jobs with INT and QUIT ignored; this one is in the foreground.
        let script = format!("trap 'echo {name}; exit 5' {name}; echo ready; while :; do sleep 0.02; done");
        let (mut child, mut stdout) = start(&mut bench.command(&["run", "pay", "--", "sh", "-c", &script]));
        send(&child, signal);
        let mut rest = String::new();
        stdout.read_to_string(&mut rest).unwrap();
        assert_eq!((rest.as_str(), child.wait().unwrap().code()), (format!("{name}\n").as_str(), Some(5)));
    }
}

#[test]
fn a_command_that_a_signal_ended_counts_nowhere() {
    let bench = Bench::new();
    let breaker = bench.due("pay", &policy());
    let script = "echo ready; while :; do sleep 0.02; done";
    let (mut child, _stdout) = start(&mut bench.command(&["run", "pay", "--", "sh", "-c", script]));
    assert_eq!(breaker.inspect().unwrap().leases.len(), 1);
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let seen = breaker.inspect().unwrap();
    assert_eq!((seen.state, seen.leases.len(), seen.probe_due), (State::HalfOpen, 0, true));
}

#[test]
fn a_signal_ends_a_wait() {
    let bench = Bench::with_records();
    let mut child =
        bench.command(&["run", "--wait", "pay", "--", "touch", "started"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("retrying in "), "{line}");
    send(&child, Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!bench.path("started").exists());
}

#[test]
fn a_signal_ends_an_acquire_that_the_store_does_not_answer() {
    let bench = Bench::new();
    bench.due("pay", &policy());
    // A probe takes a lease, and that cannot be written.
    let other = Connection::open(bench.store()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for choice in ["fail-closed", "fail-open"] {
        let mut command = bench.command(&["run", "--on-store-error", choice, "pay", "--", "touch", "started"]);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        until("it listens for signals", || listens_for(&child, Signal::INT).then_some(()));
        send(&child, Signal::INT);
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!((child.wait().unwrap().code(), stderr.as_str()), (Some(130), ""), "{choice}");
        assert!(!bench.path("started").exists());
    }
}

#[test]
fn a_signal_ends_a_report_that_the_store_does_not_answer() {
    let bench = Bench::new();
    bench.due("pay", &policy());
    let script = "trap '' TERM; echo ready; until test -e locked; do sleep 0.02; done; touch ended; exit 7";
    let (mut child, _stdout) = start(&mut bench.command(&["run", "pay", "--", "sh", "-c", script]));
    let other = Connection::open(bench.store()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    bench.write("locked", "");
    until("the command has ended", || bench.path("ended").exists().then_some(()));
    // The command ignores a signal that still reaches it; the next one arrives during the report.
    let status = until("the program ends", || {
        send(&child, Signal::TERM);
        std::thread::sleep(std::time::Duration::from_millis(100));
        child.try_wait().unwrap()
    });
    let mut stderr = String::new();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    assert_eq!((status.code(), stderr.lines().count()), (Some(7), 1), "{stderr}");
    assert!(stderr.contains("it is not known whether its result ("), "{stderr}");
}

fn listens_for(child: &Child, signal: Signal) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
    u64::from_str_radix(caught, 16).unwrap() & (1 << (signal.as_raw() - 1)) != 0
}

#[test]
fn watch_shows_the_state_repeatedly_until_a_signal() {
    let bench = Bench::with_records();
    let mut command = bench.command(&["status", "--json", "--watch=20ms"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().contains("\"state\":\"open\""));
    bench.host().breaker("pay").reset("").unwrap();
    until("it shows that", || lines.next().unwrap().unwrap().contains("\"state\":\"closed\"").then_some(()));
    send(&child, Signal::INT);
    assert!(!child.wait().unwrap().success());
}
