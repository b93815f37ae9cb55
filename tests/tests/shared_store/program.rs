//! The program on a store that is named by its address.

use std::process::Command;

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
