//! Signals to `halfopen run` and to the other commands.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::FromRawFd as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};

use halfopen::State;
use halfopen_tests::breakers::{policy, until};
use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, family, ignoring, kill, pid, ran, with_default_signals};

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

/// The signals that are passed on: all but those that no process can catch, that mean a fault, and SIGCHLD.
fn forwarded() -> impl Iterator<Item = i32> {
    let not = [libc::SIGKILL, libc::SIGSTOP, libc::SIGCHLD, libc::SIGXFSZ];
    let faults = [libc::SIGILL, libc::SIGBUS, libc::SIGFPE, libc::SIGSEGV];
    (1..32).chain(libc::SIGRTMIN()..=libc::SIGRTMAX()).filter(move |signal| ![not, faults].concat().contains(signal))
}

/// The signals that stop a process.
const STOPPING: [i32; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

#[test]
fn each_signal_reaches_the_command() {
    let bench = Bench::new();
    bench.host().breaker("pay").configure(&policy().consecutive_failures(0), "").unwrap();
    for signal in forwarded().filter(|signal| !STOPPING.contains(signal)) {
        // A shell starts its background jobs with INT and QUIT ignored; this one is in the foreground.
        let script = format!("trap 'echo {signal}; exit 5' {signal}; echo ready; while :; do sleep 0.02; done");
        let (mut child, stdout) = start(&mut bench.command(&["run", "pay", "--", "sh", "-c", &script]));
        kill(pid(&child), signal);
        let mut lines = stdout.lines();
        assert_eq!(lines.next().unwrap().unwrap(), signal.to_string());
        assert_eq!(child.wait().unwrap().code(), Some(5), "{signal}");
    }
}

#[test]
fn a_signal_that_ends_the_command_leaves_no_lease() {
    let bench = Bench::new();
    let breaker = bench.due("pay", &policy());
    let harmless = [libc::SIGCONT, libc::SIGURG, libc::SIGWINCH];
    let ending = forwarded().filter(|signal| !harmless.contains(signal) && !STOPPING.contains(signal));
    for signal in ending {
        let (mut child, _stdout) =
            start(&mut bench.command(&["run", "pay", "--", "sh", "-c", "echo ready; exec sleep 600"]));
        kill(pid(&child), signal);
        assert_eq!(child.wait().unwrap().signal(), Some(signal));
        let seen = breaker.inspect().unwrap();
        assert!(seen.leases.is_empty() && seen.probe_due, "{signal}: {seen:?}");
    }
}

/// A command that counts a signal until the file `end` exists.
fn counter(signal: i32) -> String {
    format!("n=0; trap 'n=$((n+1))' {signal}; echo ready; until test -e end; do sleep 0.01; done; echo $n")
}

#[test]
fn one_stop_is_one_signal_whichever_processes_get_it() {
    let bench = Bench::new();
    type Way = fn(i32, i32);
    let ways: [(&str, Way); 4] = [
        ("the program alone", kill),
        ("its group", |program, signal| kill(-program, signal)),
        ("each process", |program, signal| family(program).into_iter().for_each(|pid| kill(pid, signal))),
        ("each process, the program last", |program, signal| {
            family(program).into_iter().rev().for_each(|pid| kill(pid, signal));
        }),
    ];
    for (way, stop) in ways {
        for signal in [libc::SIGTERM, libc::SIGINT] {
            let _ = std::fs::remove_file(bench.path("end"));
            let mut command = bench.command(&["run", "pay", "--", "sh", "-c", &counter(signal)]);
            // SAFETY: setsid is a plain system call.
            unsafe { command.pre_exec(|| rustix::process::setsid().map(drop).map_err(Into::into)) };
            let (mut child, stdout) = start(&mut command);
            stop(pid(&child), signal);
            // More than the time for which the program holds a signal back.
            std::thread::sleep(std::time::Duration::from_millis(500));
            bench.write("end", "");
            let counted: Vec<String> = stdout.lines().map(Result::unwrap).collect();
            assert_eq!(counted, ["1"], "{way}: {signal}");
            assert!(child.wait().unwrap().success());
        }
    }
}

/// A terminal, and a program in its foreground.
#[test]
fn ctrl_c_at_a_terminal_reaches_the_command_once() {
    let bench = Bench::new();
    let (mut terminal, mut its_end) = (0, 0);
    let null = std::ptr::null_mut();
    // SAFETY: both numbers are valid for writes, and the other arguments may be null.
    assert_eq!(unsafe { libc::openpty(&mut terminal, &mut its_end, null, null.cast(), null.cast()) }, 0);
    let mut command = bench.command(&["run", "pay", "--", "sh", "-c", &counter(libc::SIGINT)]);
    let log_in = move || {
        // SAFETY: the file is open, and no other thread of this process uses it.
        (unsafe { libc::login_tty(its_end) } == 0).then_some(()).ok_or_else(std::io::Error::last_os_error)
    };
    // SAFETY: `log_in` makes system calls and nothing else.
    unsafe { command.pre_exec(log_in) };
    let mut child = command.spawn().unwrap();
    // SAFETY: the file is open, and only `screen` closes it.
    let mut screen = BufReader::new(unsafe { std::fs::File::from_raw_fd(terminal) });
    let mut line = String::new();
    screen.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\r\n");
    screen.get_mut().write_all(b"\x03").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    bench.write("end", "");
    line.clear();
    screen.read_line(&mut line).unwrap();
    assert_eq!(line, "^C1\r\n");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_stopped_program_and_its_command_go_on_together() {
    let bench = Bench::new();
    let script = "echo ready; until test -e end; do sleep 0.01; done";
    for signal in STOPPING {
        let _ = std::fs::remove_file(bench.path("end"));
        let (mut child, _stdout) = start(&mut bench.command(&["run", "pay", "--", "sh", "-c", script]));
        let [program, keeper, command] = family(pid(&child))[..3] else { panic!("the command runs") };
        let both = |state: &str| [program, command].iter().all(|pid| stat(*pid).contains(state));
        kill(program, signal);
        until("both are stopped", || both(") T ").then_some(()));
        assert!(!stat(keeper).contains(") T "));
        kill(program, libc::SIGCONT);
        until("both go on", || (!stat(program).contains(") T ") && !stat(command).contains(") T ")).then_some(()));
        bench.write("end", "");
        assert!(child.wait().unwrap().success());
    }
}

fn stat(pid: i32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap()
}

#[test]
fn the_command_has_the_dispositions_the_program_had() {
    let bench = Bench::new();
    let set = |shown: &str| u64::from_str_radix(shown.split_whitespace().last().unwrap(), 16).unwrap();
    for signal in [libc::SIGPIPE, libc::SIGINT, libc::SIGUSR1, libc::SIGTSTP, libc::SIGRTMIN() + 1] {
        // Whatever runs the tests may ignore signals too.
        let mut alone = Command::new("grep");
        with_default_signals(alone.args(["SigIgn", "/proc/self/status"]));
        let alone = set(&ran(ignoring(&mut alone, signal)).stdout);
        assert_ne!(alone & 1 << (signal - 1), 0);
        let mut command = bench.command(&["run", "pay", "--", "grep", "SigIgn", "/proc/self/status"]);
        assert_eq!(set(&ran(ignoring(&mut command, signal)).stdout), alone, "{signal}");
    }
    let mut command = bench.command(&["run", "pay", "--", "grep", "SigBlk", "/proc/self/status"]);
    let block = || {
        // SAFETY: the set is initialized before it is used.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGTERM);
            libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        }
        Ok(())
    };
    // SAFETY: `block` makes system calls and nothing else.
    unsafe { command.pre_exec(block) };
    assert!(ran(&mut command).stdout.trim_end().ends_with("0000000000004000"));
}

#[test]
fn a_command_that_a_signal_ended_counts_nowhere() {
    let bench = Bench::new();
    let breaker = bench.due("pay", &policy());
    let script = "echo ready; while :; do sleep 0.02; done";
    let (mut child, _stdout) = start(&mut bench.command(&["run", "pay", "--", "sh", "-c", script]));
    assert_eq!(breaker.inspect().unwrap().leases.len(), 1);
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGTERM));
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
    assert_eq!(child.wait().unwrap().signal(), Some(libc::SIGINT));
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
        assert_eq!((child.wait().unwrap().signal(), stderr.as_str()), (Some(libc::SIGINT), ""), "{choice}");
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
