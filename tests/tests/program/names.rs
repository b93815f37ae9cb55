//! Names that are none.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use crate::bench::{Bench, all};

#[test]
fn names_that_are_empty_too_long_or_hold_control_characters_are_refused_everywhere() {
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
        &["run", "--caller", &long, "pay", "--", "true"],
        &["force", "pay", "open", "--note", &long],
    ] {
        refusals.push(bench.refused(args));
    }
    insta::assert_snapshot!(all(refusals));
}

#[test]
fn names_that_are_no_text_are_refused() {
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
