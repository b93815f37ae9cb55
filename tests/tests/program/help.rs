//! Help, and faults of the command line.

use crate::bench::{Bench, all, ran};

#[test]
fn every_command_has_a_help_page() {
    let bench = Bench::new();
    let pages: [&[&str]; 22] = [
        &["--help"],
        &["-h"],
        &["run", "--help"],
        &["status", "--help"],
        &["history", "--help"],
        &["list", "--help"],
        &["help", "history"],
        &["policy", "--help"],
        &["policy", "show", "--help"],
        &["policy", "set", "--help"],
        &["policy", "unset", "--help"],
        &["force", "--help"],
        &["reset", "--help"],
        &["forget", "--help"],
        &["prune", "--help"],
        &["doctor", "--help"],
        &["replay", "--help"],
        &["component", "--help"],
        &["component", "write", "--help"],
        &["completions", "--help"],
        &["man", "--help"],
        &["demo", "--help"],
    ];
    for page in pages {
        let name = page.iter().map(|word| word.trim_start_matches('-')).collect::<Vec<_>>().join("-");
        insta::assert_snapshot!(format!("page-{name}"), bench.shown(page));
    }
}

#[test]
fn without_a_command_it_fails_and_prints_help() {
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
fn faults_of_the_command_line_name_the_remedy() {
    let bench = Bench::with_records();
    let faults: [&[&str]; 22] = [
        &["--stor", "memory", "status"],
        &["statu"],
        &["status", "--jsn"],
        &["list", "pay", "more"],
        &["reset"],
        &["force", "pay", "shut"],
        &["force", "pay", "open", "--lasting", "10"],
        &["force", "pay", "open", "--lasting", "10M"],
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
    insta::assert_snapshot!(all(faults.map(|args| bench.refused(args))));
}

#[test]
fn completions_are_there_for_the_usual_shells() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = bench.run(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains("halfopen") && ran.stdout.contains("COMPLETE"), "{shell}");
    }
    // The script is valid shell.
    assert_eq!(bench.shell("halfopen completions bash > c && bash -n c").code, 0);
}

#[test]
fn completions_know_options_and_names() {
    let bench = Bench::with_records();
    let complete = |words: &str, index: u32| {
        let line = format!("_CLAP_COMPLETE_INDEX={index} HALFOPEN_COMPLETE=bash _CLAP_IFS=' ' halfopen -- {words}");
        bench.shell(&line).stdout
    };
    assert!(complete("halfopen sta", 1).contains("status"));
    assert!(complete("halfopen run --ign", 2).contains("--ignore-status"));
    assert!(complete("halfopen status pa", 2).contains("pay"));
    assert!(complete("halfopen policy show ''", 3).contains("pay"));
    assert!(!complete("halfopen status q", 2).contains("pay"));
}

#[test]
fn manual_pages_are_what_man_reads() {
    let bench = Bench::new();
    for (words, title) in [(&["man"][..], "halfopen"), (&["man", "policy", "set"], "halfopen-policy-set")] {
        let ran = bench.run(words);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{words:?}");
        assert!(ran.stdout.contains(&format!(".TH {title} 1")) && ran.stdout.contains(".SH OPTIONS"), "{}", ran.stdout);
    }
    assert_eq!(bench.run(&["man", "dance"]).code, 64);
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_error() {
    let ran = Bench::new().shell("{ halfopen completions bash; echo $? >&2; } | head -c 1 > /dev/null");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "0\n"));
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_an_error() {
    let bench = Bench::new();
    for args in [&["--help"][..], &["run", "-h"], &["--version"], &["completions", "bash"], &["status"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = bench.command(args).stdout(full).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(74), "{args:?}: {stderr}");
        assert!(stderr.starts_with("halfopen: cannot write to the standard output: "), "{args:?}: {stderr}");
    }
}
