use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use clap::Parser as _;
use halfopen::Outcome;

use super::outcome::LONGEST_CALLER;
use super::session::Session;
use crate::args::{Cli, Command, Run};
use crate::host;
use crate::process::{Ended, Supervisor};

fn args(words: &[&str]) -> Run {
    match Cli::try_parse_from([&["halfopen", "run"], words].concat()).unwrap().command {
        Command::Run(run) => run,
        other => panic!("{other:?}"),
    }
}

fn session<'a>(args: &'a Run, supervisor: &'a Supervisor) -> Session<'a> {
    let global = Cli::try_parse_from(["halfopen", "--store", "/none/store.db", "status"]).unwrap().global;
    Session { args, supervisor, opener: host::opener(&global).unwrap() }
}

fn caller(words: &[&str]) -> String {
    session(&args(words), &Supervisor::new().unwrap()).caller()
}

#[test]
fn the_end_of_a_command_is_its_outcome_and_its_cause() {
    let args = args(&["--timeout", "10s", "--ignore-status", "3,20-22", "pay", "--", "true"]);
    let supervisor = Supervisor::new().unwrap();
    let session = session(&args, &supervisor);
    let exit = |code: i32| code << 8;
    for (raw, timed_out, interrupted, outcome, cause) in [
        (exit(0), false, false, Outcome::Success, "exit status 0"),
        (exit(0), false, true, Outcome::Success, "exit status 0"),
        (exit(1), false, false, Outcome::Failure, "exit status 1"),
        (exit(3), false, false, Outcome::Ignored, "exit status 3"),
        (exit(21), false, false, Outcome::Ignored, "exit status 21"),
        (exit(1), false, true, Outcome::Ignored, "exit status 1"),
        (exit(0), true, false, Outcome::Timeout, "timed out after 10s"),
        (9, false, false, Outcome::Failure, "signal 9"),
        (15, true, false, Outcome::Timeout, "timed out after 10s"),
    ] {
        let ended = Ended { status: ExitStatus::from_raw(raw), took: Duration::ZERO, timed_out, interrupted };
        assert_eq!((session.outcome(&ended), session.cause(&ended).as_str()), (outcome, cause));
    }
}

#[test]
fn the_default_caller_fits_and_names_the_command() {
    let long = "x".repeat(300);
    let name = caller(&["pay", "--", &format!("/usr/bin/{long}")]);
    assert!(name.len() <= LONGEST_CALLER && name.contains(&format!("(pid {})", std::process::id())), "{name}");
    let machine = rustix::system::uname();
    let shown = format!("curl@{} (pid {})", machine.nodename().to_str().unwrap(), std::process::id());
    assert_eq!(caller(&["pay", "--", "/usr/bin/curl", "-f"]), shown);
    assert!(caller(&["pay", "--", &"ü".repeat(100)]).len() <= LONGEST_CALLER);
    assert_eq!(caller(&["--caller", "me", "pay", "--", "true"]), "me");
    assert_eq!(caller(&["--redact", "pay", "--", "true"]), format!("pid {}", std::process::id()));
}
