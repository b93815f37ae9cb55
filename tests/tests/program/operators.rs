//! The commands of operators.

use insta::Settings;

use crate::bench::{Bench, all};

/// Times differ from run to run.
pub fn times_redacted() -> Settings {
    let mut settings = Settings::clone_current();
    settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "[instant]");
    settings.add_filter(r#"("(?:since|next_due|at)":)\d{10,}"#, "${1}[ms]");
    settings.add_filter(r#"("(?:expires_in_ms|ends_in_ms)":)\d+"#, "${1}[ms]");
    settings.add_filter(r"(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d UTC \([^)]*\)", "[when]");
    settings.add_filter(r"\b\d+(\.\d+)?(ms|s|m|h)( \d+(s|m))?\b", "[time]");
    settings.add_filter(r"@\S+ \(pid \d+\)", "@[machine] (pid [pid])");
    settings.add_filter(r#"tester@[^\s",]+"#, "tester@[host]");
    settings.add_filter(r" {2,}", "  ");
    settings
}

#[test]
fn a_day_of_an_operator() {
    let bench = Bench::new();
    let mut shown = Vec::new();
    for args in [
        &["status"][..],
        &["status", "--json"],
        &["history", "pay"],
        &["status", "pay"],
        &[
            "policy",
            "set",
            "pay",
            "consecutive_failures=1",
            "open_ms=3600000",
            "open_max_ms=3600000",
            "jitter_percent=0",
        ],
        &["run", "pay", "--", "false"],
        &["run", "mail", "--", "true"],
        &["status"],
        &["status", "pay"],
        &["status", "pya"],
        &["history", "pay"],
        &["history", "pay", "--json"],
        &["force", "pay", "none"],
        &["force", "pay", "open", "--lasting", "10m", "--by", "ops", "--note", "maintenance of the provider"],
        &["status", "pay"],
        &["force", "pay", "closed", "--lasting", "10m"],
        &["force", "pay", "none"],
        &["history", "pay", "--limit", "2"],
        &["policy", "show", "pay"],
        &["policy", "show", "mail"],
        &["policy", "show", "pay", "--json"],
        &["policy", "unset", "pay"],
        &["policy", "show", "pay", "--json"],
        &["reset", "pay", "--note", "all is well"],
        &["history", "pay", "--json"],
        &["prune", "--idle", "1h"],
        &["forget", "pay"],
        &["forget", "never heard of"],
        &["history"],
        &["policy", "show", "pay", "--json"],
        &["history", "pay"],
        &["run", "mail", "--", "true"],
        &["prune", "--idle", "1ms"],
        &["status"],
        &["--namespace", "other", "status"],
    ] {
        shown.push(bench.shown(args));
    }
    times_redacted().bind(|| insta::assert_snapshot!(all(shown)));
}

#[test]
fn names_and_notes_cannot_control_the_terminal() {
    let bench = Bench::new();
    let note = "\u{1b}[2J\u{202e}gnp";
    assert_eq!(bench.run(&["force", "pay", "open", "--note", note]).code, 0);
    assert_eq!(bench.run(&["run", "a\u{202e}b", "--", "true"]).code, 0);
    for args in [&["status"][..], &["status", "pay"], &["status", "pay", "--json"], &["status", "--json"]] {
        let shown = bench.run(args).stdout;
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
    }
}

#[test]
fn verbose_writes_events_to_stderr() {
    let bench = Bench::new();
    bench.open("pay");
    let quiet = bench.run(&["run", "--quiet", "pay", "--", "false"]);
    assert_eq!((quiet.code, quiet.stderr.as_str()), (1, ""));
    bench.run(&["reset", "pay"]);
    let verbose = bench.run(&["--verbose", "run", "pay", "--", "false"]);
    assert!(verbose.code == 1 && verbose.stderr.contains("consecutive-failures"), "{verbose:?}");
}
