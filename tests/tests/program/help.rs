//! Help and mistakes on the command line.

use crate::bench::{Bench, all, ran};

#[test]
fn every_command_has_a_help_page() {
    let bench = Bench::new();
    let pages: [&[&str]; 17] = [
        &["--help"],
        &["-h"],
        &["run", "--help"],
        &["status", "--help"],
        &["history", "--help"],
        &["policy", "--help"],
        &["policy", "show", "--help"],
        &["policy", "set", "--help"],
        &["force", "--help"],
        &["reset", "--help"],
        &["forget", "--help"],
        &["prune", "--help"],
        &["replay", "--help"],
        &["component", "--help"],
        &["component", "write", "--help"],
        &["completions", "--help"],
        &["demo", "--help"],
    ];
    for page in pages {
        let name = page.iter().map(|word| word.trim_start_matches('-')).collect::<Vec<_>>().join("-");
        insta::assert_snapshot!(format!("page-{name}"), bench.shown(page));
    }
}

#[test]
fn without_a_command_it_fails_and_says_where_to_look() {
    let bench = Bench::with_records();
    let mut bare = bench.command::<&str>(&[]);
    let ran = ran(bare.env_remove("HALFOPEN_STORE"));
    assert_eq!((ran.code, ran.stdout.as_str()), (64, ""));
    assert!(ran.stderr.contains("Usage: halfopen"), "{}", ran.stderr);
    insta::assert_snapshot!(bench.refused(&[]));
}

#[test]
fn the_version_is_that_of_the_crate() {
    let ran = Bench::new().run(&["--version"]);
    assert_eq!((ran.code, ran.stdout), (0, format!("halfopen {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn mistakes_on_the_command_line_are_one_line_that_says_what_to_do() {
    let bench = Bench::with_records();
    let mistakes: [&[&str]; 21] = [
        &["--stor", "memory", "status"],
        &["statu"],
        &["status", "--jsn"],
        &["status", "pay", "more"],
        &["reset"],
        &["force", "pay", "shut"],
        &["force", "pay", "open", "--lasting", "10"],
        &["history", "pay", "--limit", "many"],
        &["policy", "set", "pay"],
        &["policy", "shw"],
        &["completions", "tcsh"],
        &["run", "pay"],
        &["run", "pay", "true"],
        &["run", "--tmeout", "5s", "pay", "--", "true"],
        &["run", "--colour", "pay", "--", "true"],
        &["policy", "set", "pay", "--open_ms=5"],
        &["run", "--timeout", "soon", "pay", "--", "true"],
        &["run", "--timeout", "0s", "pay", "--", "true"],
        &["run", "--max-wait", "5s", "pay", "--", "true"],
        &["run", "--ignore-status", "300", "pay", "--", "true"],
        &["run", "--on-store-error", "panic", "pay", "--", "true"],
    ];
    insta::assert_snapshot!(all(mistakes.map(|args| bench.refused(args))));
}

#[test]
fn completions_are_there_for_the_usual_shells() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = bench.run(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains("halfopen") && ran.stdout.contains("ignore-status"), "{shell}");
    }
    // What completes is shell that a shell takes.
    assert_eq!(bench.shell("halfopen completions bash > c && bash -n c").code, 0);
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let ran = Bench::new().shell("{ halfopen completions bash; echo $? >&2; } | head -c 1 > /dev/null");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "0\n"));
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_an_error_whatever_it_is() {
    let bench = Bench::new();
    for args in [&["--help"][..], &["run", "-h"], &["--version"], &["completions", "bash"], &["status"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = bench.command(args).stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(74), "{args:?}: {stderr}");
        assert!(stderr.starts_with("halfopen: cannot write to the standard output: "), "{args:?}: {stderr}");
    }
}
