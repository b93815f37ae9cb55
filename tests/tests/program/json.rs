//! The JSON that the program prints: one document on one line, with its version first.

use crate::bench::{Bench, all};
use crate::operators::times_redacted;

#[test]
fn every_document_has_its_form() {
    let bench = Bench::new();
    let mut shown = Vec::new();
    for args in [
        &["status"][..],
        &["run", "pay", "--", "false"],
        &["policy", "set", "pay", "consecutive_failures=1", "open=1h", "open_max=1h", "jitter_percent=0"],
        &["force", "mail", "open", "--for", "10m", "--by", "ops", "--note", "maintenance"],
        &["run", "pay", "--", "sh", "-c", "exit 22"],
        &["status"],
        &["status", "pay"],
        &["status", "unknown"],
        &["history"],
        &["list"],
        &["policy", "show", "pay"],
        &["policy", "show"],
        &["policy", "show", "--preset", "cron"],
        &["policy", "unset", "pay"],
        &["reset", "pay"],
        &["forget", "mail"],
        &["prune", "--idle", "1h"],
        &["prune", "--idle", "1h", "--dry-run"],
    ] {
        let args = if args[0] == "run" { args.to_vec() } else { [args, &["--json"]].concat() };
        let ran = bench.run(&args);
        for line in ran.stdout.lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["version"], 1, "{args:?}");
        }
        shown.push(bench_line(&args.join(" "), &ran.stdout));
    }
    times_redacted().bind(|| insta::assert_snapshot!(all(shown)));
}

fn bench_line(command: &str, stdout: &str) -> String {
    format!("$ halfopen {command}\n{stdout}")
}

#[test]
fn the_findings_of_the_doctor_are_a_document() {
    let bench = Bench::with_records();
    let ran = bench.run(&["doctor", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &document["version"]), (0, &1.into()), "{ran:?}");
    let findings = document["findings"].as_array().unwrap();
    let checks: Vec<&str> = findings.iter().filter_map(|finding| finding["check"].as_str()).collect();
    for check in ["store", "rights", "clock", "policy", "component", "cache"] {
        assert!(checks.contains(&check), "{checks:?}");
    }
    assert!(findings.iter().all(|finding| finding["ok"] == true && finding["found"].is_string()), "{document}");
}

/// A pipe that keeps each write apart shows how the lines were written.
#[test]
#[cfg(target_os = "linux")]
fn each_line_is_one_write() {
    use std::io::Read as _;
    use std::os::fd::FromRawFd as _;

    let bench = Bench::with_records();
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for the two descriptors that the call writes.
    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_DIRECT | libc::O_CLOEXEC) }, 0);
    // SAFETY: the descriptors are new, and nothing else owns them.
    let [mut output, input] = ends.map(|end| unsafe { std::fs::File::from_raw_fd(end) });
    let mut command = bench.command(&["status", "pay", "--json"]);
    command.stdout(input.try_clone().unwrap()).stderr(input);
    let code = command.status().unwrap().code();
    drop(command);
    let mut packet = [0; 4_096];
    let size = output.read(&mut packet).unwrap();
    assert_eq!(code, Some(0));
    assert_eq!(packet[..size].last(), Some(&b'\n'));
    assert_eq!(output.read(&mut packet).unwrap(), 0, "the line was written in parts");
}
