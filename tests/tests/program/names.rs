//! Names that are none.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::bench::{Bench, all};

#[test]
fn invalid_names_are_refused_by_every_command() {
    let bench = Bench::with_records();
    let long = "x".repeat(257);
    let mut refusals = Vec::new();
    for name in ["", long.as_str(), "a\nb", "a\u{1b}[2Jb", "a\u{85}b"] {
        refusals.push(bench.refused(&["run", name, "--", "true"]));
    }
    for args in [
        &["status", "a\tb"][..],
        &["history", "a\tb"],
        &["policy", "show", "a\tb"],
        &["policy", "set", "a\tb", "open_ms=1"],
        &["force", "a\tb", "open"],
        &["reset", "a\tb"],
        &["forget", "a\tb"],
        &["--namespace", "", "status"],
        &["--namespace", &long, "status"],
        &["--namespace", "a\nb", "status"],
    ] {
        refusals.push(bench.refused(args));
    }
    insta::assert_snapshot!(all(refusals));
}

#[test]
fn names_that_are_not_utf8_are_refused() {
    let bench = Bench::with_records();
    let name = OsStr::from_bytes(b"caf\xe9");
    let refusals = ["run", "reset"].map(|command| {
        let mut words = vec![OsStr::new(command), name];
        if command == "run" {
            words.extend(["--", "true"].map(OsStr::new));
        }
        bench.refused_of(&mut bench.command(&words), &format!("{command} caf\\xe9"))
    });
    insta::assert_snapshot!(all(refusals));
}

#[test]
fn names_in_other_scripts_and_with_spaces_are_names() {
    let bench = Bench::new();
    let longest = "é".repeat(128);
    for name in ["платежи", "a b", "a:b", "--", longest.as_str()] {
        let args = if name == "--" { vec!["run", "--", name] } else { vec!["run", name, "--", "true"] };
        // A name "--" cannot be given; it is a mistake, not a crash.
        let code = bench.run(&args).code;
        assert_eq!(code, if name == "--" { 64 } else { 0 }, "{name}");
    }
}

#[test]
fn a_long_caller_or_note_is_cut_at_128_bytes() {
    let bench = Bench::new();
    let long = "x".repeat(257);
    let breaker = bench.open("pay");
    assert_eq!(bench.run(&["run", "--caller", &long, "pay", "--", "false"]).code, 1);
    assert_eq!(bench.run(&["force", "pay", "open", "--by", &long, "--note", &long]).code, 0);
    let seen = breaker.inspect().unwrap();
    let forced = seen.forced.unwrap();
    assert_eq!([seen.last_failure.unwrap().caller, forced.by, forced.note], [(); 3].map(|()| "x".repeat(128)));
}
