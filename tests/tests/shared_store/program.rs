//! The program on a store that is named by its address.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use halfopen_tests::breakers::{policy, until};
use halfopen_tests::herd::Place;
use halfopen_tests::program::{program, root};

/// Runs it; its exit code, and all that it said.
fn ran(place: &Place, words: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(program());
    command.args(["--namespace", &place.namespace]).env("HALFOPEN_STORE", &place.address).args(words);
    let output = command.output().expect("the program starts");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

pub fn runs_shows_and_replays(address: &str) {
    let place = Place::at(address);
    let scenario = root().join("tests/scenarios/one-probe-of-a-hundred.jsonl");
    let steps: [(&[&str], i32, &str); 6] = [
        (&["run", "pay", "--", "true"], 0, ""),
        (&["force", "pay", "open"], 0, ""),
        (&["run", "pay", "--", "true"], 75, "not started"),
        (&["status"], 0, "pay"),
        (&["forget", "pay"], 0, ""),
        (&["replay", "--quiet", scenario.to_str().expect("a plain path")], 0, "1 hold"),
    ];
    for (words, code, says) in steps {
        let (ended, said) = ran(&place, words);
        assert_eq!(ended, Some(code), "{words:?}: {said}");
        assert!(said.contains(says), "{words:?}: {said}");
    }
    place.host(&halfopen::Policy::new()).remove_namespace().expect("it can be removed");

    // Nobody listens there.
    let wrong = "postgres://me:hush@127.0.0.1:1/app";
    for words in [&["-vv", "status"][..], &["--help"], &["run", "--quiet", "pay", "--", "true"]] {
        let (_, said) = ran(&Place { address: wrong.to_owned(), ..place.clone() }, words);
        assert!(!said.contains("hush"), "{words:?}: {said}");
    }
}

/// Whether a process has a connection over TCP.
fn is_connected(pid: u32) -> bool {
    let tables =
        ["tcp", "tcp6"].map(|table| std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default());
    let files = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("the process runs");
    let sockets = files.filter_map(|file| {
        let target = std::fs::read_link(file.ok()?.path()).ok()?;
        Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())
    });
    let mut numbers = tables.iter().flat_map(|table| table.lines()).filter_map(|line| line.split_whitespace().nth(9));
    let sockets: Vec<String> = sockets.collect();
    numbers.any(|number| sockets.iter().any(|socket| socket == number))
}

pub fn holds_no_connection_while_the_command_runs(address: &str) {
    let place = Place::at(address);
    let breaker = place.host(&policy()).breaker("pay");
    // The program has a default policy of its own.
    breaker.configure(&policy().lease_ms(60_000).probe_max_ms(60_000), "").expect("a policy");
    for role in ["call", "probe"] {
        let mut command = Command::new(program());
        command.args(["--namespace", &place.namespace]).env("HALFOPEN_STORE", &place.address);
        command.args(["run", "pay", "--", "sh", "-c", "echo $HALFOPEN_ROLE; read line; exit 1"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut shown = String::new();
        BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut shown).expect("it writes");
        assert_eq!(shown.trim(), role);
        until("the program is not connected", || (!is_connected(child.id())).then_some(()));
        assert_eq!(child.wait().expect("it ends").code(), Some(1));
        until("a probe is due", || breaker.inspect().expect("an inspection").probe_due.then_some(()));
    }
    let last = breaker.history(1).expect("a history").remove(0);
    assert_eq!(last.cause, "exit status 1");
    place.host(&policy()).remove_namespace().expect("it can be removed");
}
