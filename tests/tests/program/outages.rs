//! `halfopen run` and the commands of operators while the store is away.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use halfopen::{Breaker, Policy, State};
use halfopen_tests::breakers::{LONG_MS, address, host, make_due, policy, trip, until};
use halfopen_tests::program::program;
use rustix::process::{Pid, Signal, kill_process};

use crate::bench::{Bench, Ran};

/// A bench with its store in a folder that can be moved away.
struct Movable {
    bench: Bench,
    store: PathBuf,
}

/// Moves it away, in the folder of the bench.
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
        breaker.configure(policy).unwrap();
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

    fn known(&self) -> PathBuf {
        self.bench.path("home/.local/state/halfopen/last-known")
    }
}

#[test]
fn a_result_that_the_store_takes_a_moment_later_counts_and_the_exit_status_is_the_commands() {
    let place = Movable::new();
    let breaker = place.breaker(&policy());
    let script = format!("{AWAY}; (sleep 1; mv away store) >/dev/null 2>&1 & sleep 0.3; exit 7");
    let ran = place.run(&["run", "pay", "--", "sh", "-c", &script]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (7, 1), "{ran:?}");
    assert!(
        ran.stderr.contains("the command's result (failure) was recorded") && ran.stderr.contains(" late: "),
        "{ran:?}"
    );
    assert_eq!(breaker.inspect().unwrap().state, State::Open);
}

#[test]
fn a_late_result_that_no_longer_counts_is_not_said_to_be_recorded() {
    let place = Movable::new();
    place.breaker(&policy());
    // Meanwhile the breaker opens, so that the permit is one of an earlier time.
    let script = format!(
        "{AWAY}; HALFOPEN_STORE=sqlite:$PWD/away/breakers.db \"$0\" run pay -- false; \
         (sleep 1; mv away store) >/dev/null 2>&1 & sleep 0.3; exit 7"
    );
    let ran = place.run(&["run", "pay", "--", "sh", "-c", &script, program().to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (7, 1), "{ran:?}");
    assert!(ran.stderr.contains("the command's result came too late and does not count ("), "{ran:?}");
}

#[test]
fn a_probes_result_is_tried_until_its_lease_has_ended_and_the_exit_status_is_the_commands() {
    let place = Movable::new();
    let breaker = place.breaker(&Policy { lease_ms: 1_000, ..policy() });
    make_due(&breaker);
    let ran = place.run(&["run", "pay", "--", "sh", "-c", &format!("{AWAY}; exit 0")]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (0, 1), "{ran:?}");
    assert!(ran.stderr.contains("the command has run, but its result (success) could not be recorded: "), "{ran:?}");
    place.back();
    assert_eq!(breaker.inspect().unwrap().state, State::HalfOpen);
}

#[test]
fn a_signal_ends_the_trying_and_the_exit_status_is_the_commands() {
    let place = Movable::new();
    // With a lease that outlasts the test.
    make_due(&place.breaker(&policy()));
    let script = format!("trap '' TERM; {AWAY}; touch ended; exit 7");
    let mut command = place.command(&["run", "pay", "--", "sh", "-c", &script]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    until("the command has ended", || place.bench.path("ended").exists().then_some(()));
    // The command ignores what still reaches it; the next one then meets the trying.
    let status = until("the program ends", || {
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(100));
        child.try_wait().unwrap()
    });
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(status.code(), Some(7), "{said}");
    assert!(said.contains("could not be recorded: "), "{said}");
}

#[test]
fn with_last_known_it_does_as_it_was_last_told_and_says_so() {
    let place = Movable::new();
    place.breaker(&Policy { open_ms: LONG_MS, ..policy() });
    let run = |script: &str| place.run(&["run", "--on-store-error", "last-known", "pay", "--", "sh", "-c", script]);
    assert_eq!(run("exit 0").stderr, "");
    place.away();
    let ran = run("exit 3");
    assert_eq!((ran.code, ran.stderr.lines().count()), (3, 1), "{ran:?}");
    assert!(ran.stderr.contains("is not available: ") && ran.stderr.contains("starting the command"), "{ran:?}");
    assert!(ran.stderr.contains("(last-known)"), "{ran:?}");

    place.back();
    assert_eq!((run("exit 3").code, run("exit 0").code), (3, 75));
    place.away();
    let ran = run("touch started");
    assert_eq!((ran.code, ran.stderr.lines().count()), (75, 1), "{ran:?}");
    let parts =
        ["is not available: ", "not started: ", "when last asked, the breaker is open (last-known)", "come back in "];
    assert!(parts.iter().all(|part| ran.stderr.contains(part)), "{ran:?}");
    assert!(!place.bench.path("started").exists());

    let ran = place.run(&["run", "--on-store-error", "last-known", "other", "--", "touch", "started"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (69, 1), "{ran:?}");
    assert!(ran.stderr.contains("other: not started, as nothing is known from before (last-known): "), "{ran:?}");
    assert!(!place.bench.path("started").exists());
}

#[test]
fn what_was_last_known_is_kept_only_where_that_is_wanted_and_for_the_user_alone() {
    let place = Movable::new();
    place.breaker(&policy());
    for choice in ["fail-closed", "fail-open"] {
        assert_eq!(place.run(&["run", "--on-store-error", choice, "pay", "--", "true"]).code, 0);
    }
    assert!(!place.known().exists());
    assert_eq!(place.run(&["run", "--on-store-error", "last-known", "pay", "--", "true"]).code, 0);
    let mode = |path: &PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let files: Vec<PathBuf> = fs::read_dir(place.known()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!((mode(&place.known()), files.len(), mode(&files[0])), (0o700, 1, 0o600));

    // What others could have written says nothing, and neither does what is damaged.
    place.away();
    let run = || place.run(&["run", "--on-store-error", "last-known", "pay", "--", "true"]).code;
    assert_eq!(run(), 0);
    fs::set_permissions(&files[0], fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(run(), 69);
    fs::set_permissions(&files[0], fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&files[0], "proceed").unwrap();
    assert_eq!(run(), 69);
}

#[test]
fn with_last_known_and_no_place_for_it_the_command_is_not_started() {
    let place = Movable::new();
    let mut command = place.command(&["run", "--on-store-error", "last-known", "pay", "--", "touch", "started"]);
    let ran = crate::bench::ran(command.env_remove("HOME"));
    assert_eq!((ran.code, ran.stderr.lines().count()), (78, 1), "{ran:?}");
    assert!(ran.stderr.contains("no place for what was last known: neither XDG_STATE_HOME nor HOME"), "{ran:?}");
    assert!(!place.bench.path("started").exists());
}

#[test]
fn a_folder_for_what_was_last_known_that_cannot_be_used_is_told_with_what_to_do() {
    let place = Movable::new();
    place.breaker(&policy());
    let run = || place.run(&["run", "--on-store-error", "last-known", "pay", "--", "true"]);
    assert_eq!(run().stderr, "");
    fs::set_permissions(place.known(), fs::Permissions::from_mode(0o755)).unwrap();
    let ran = run();
    assert_eq!((ran.code, ran.stderr.lines().count()), (0, 1), "{ran:?}");
    let remedy = format!("`chmod 700 {}`", place.known().display());
    assert!(ran.stderr.contains("is not kept") && ran.stderr.contains(&remedy), "{ran:?}");

    place.away();
    let ran = run();
    assert_eq!((ran.code, ran.stderr.lines().count()), (69, 1), "{ran:?}");
    assert!(ran.stderr.contains("pay: not started, as what is known from before cannot be used"), "{ran:?}");
    assert!(ran.stderr.contains(&remedy), "{ran:?}");
    fs::set_permissions(place.known(), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(run().code, 0);

    place.back();
    fs::remove_dir_all(place.known()).unwrap();
    std::os::unix::fs::symlink(place.bench.folder(), place.known()).unwrap();
    let ran = run();
    assert_eq!((ran.code, ran.stderr.lines().count()), (0, 1), "{ran:?}");
    assert!(ran.stderr.contains(&format!("{} is no folder", place.known().display())), "{ran:?}");
}

#[test]
fn when_the_known_wait_has_passed_it_is_said_that_it_has() {
    let place = Movable::new();
    let breaker = place.breaker(&Policy { open_ms: 4_000, ..policy() });
    let run = || place.run(&["run", "--on-store-error", "last-known", "pay", "--", "true"]);
    trip(&breaker);
    assert_eq!(run().code, 75);
    place.away();
    let ran = until("the wait has passed", || Some(run()).filter(|ran| ran.code != 75));
    assert_eq!((ran.code, ran.stderr.lines().count()), (69, 1), "{ran:?}");
    assert!(ran.stderr.contains("pay: not started, as the wait that was known has passed (last-known): "), "{ran:?}");
}

#[test]
fn a_store_that_cannot_be_asked_is_not_waited_for_and_that_is_said() {
    let place = Movable::new();
    place.breaker(&policy());
    place.away();
    let ran = place.run(&["run", "--wait", "pay", "--", "true"]);
    assert_eq!((ran.code, ran.stderr.lines().count()), (69, 1), "{ran:?}");
    assert!(ran.stderr.contains("--wait waits for the dependency, not for the store: "), "{ran:?}");
}

#[test]
fn force_is_an_error_meanwhile_and_takes_no_effect_later() {
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
