//! Policies, and texts that are no valid policy.

use crate::bench::{Bench, all};

const OUT_OF_RANGE: &str = "\
consecutive_failures = 1000001
failure_rate = { percent = 0, minimum_calls = 0 }
slow_calls = { slower_than_ms = 0, percent = 101, minimum_calls = 1000001 }
window = { ms = 15 }
open_ms = -5
open_multiplier = 0.5
open_max_ms = 2592000001
jitter_percent = 101
stable_after_ms = 99999999999
lease_ms = 2.5
probe_max_ms = 0
probes = 101
successes_to_close = 0
ramp = { over_ms = 0, from_percent = 101 }
fresh_ms = 1e300
";

#[test]
fn all_keys_out_of_range_are_named_with_their_ranges() {
    let bench = Bench::with_records();
    let file = bench.write("wild.toml", OUT_OF_RANGE);
    let refusals = [
        bench.refused(&["policy", "set", "pay", &file]),
        bench.refused(&["policy", "set", "pay", "window.calls=0", "probes=0"]),
        bench.refused(&["policy", "set", "pay", "window.calls=1001"]),
        bench.refused(&["policy", "set", "pay", "open_ms=10000", "open_max_ms=9999"]),
        bench.refused(&["policy", "set", "pay", "lease_ms=10000", "probe_max_ms=9999"]),
        bench.refused(&["--default-policy", &file, "status"]),
        bench.refused(&["policy", "set", "other", "open=10m"]),
        bench.refused(&["policy", "set", "other", "lease=2m", "open=1s"]),
    ];
    for field in OUT_OF_RANGE.lines().filter_map(|line| line.split(" = ").next()) {
        assert!(refusals[0].contains(field), "{field} is not named");
        assert!(refusals[5].contains(field), "{field} is not named as a default");
    }
    insta::assert_snapshot!(all(refusals));
}

#[test]
fn faults_of_a_policy_file_name_the_key_or_the_line() {
    let bench = Bench::with_records();
    let files: [(&str, &[u8]); 11] = [
        ("typo.toml", b"open_ms = 1\nconsecutive_failure = 3\n[failure_rate]\nprecent = 1\nminimum_calls = 1\n"),
        ("stranger.toml", b"colour = \"red\"\n"),
        ("kinds.toml", b"open_ms = \"long\"\nlost_probe = \"retry\"\nwindow = 5\nramp = { over_ms = 5 }\n"),
        ("windows.toml", b"window = { ms = 10, calls = 5 }\n"),
        ("cut.toml", b"open_ms = 5\nwindow = { ms = "),
        ("cut.json", b"{\"open_ms\": 5,"),
        ("typo.json", b"{\"open-ms\": 5}"),
        ("array.json", b"[1]"),
        ("latin.toml", b"# caf\xe9\n"),
        ("both.toml", b"open_ms = 5\nopen = \"5s\"\n"),
        ("duration.toml", b"probes = 1\nopen = \"5000h\"\n"),
    ];
    let mut refusals: Vec<String> = Vec::new();
    for (name, content) in files {
        refusals.push(bench.refused(&["policy", "set", "pay", &bench.write(name, content)]));
    }
    refusals.push(bench.refused(&["policy", "set", "pay", "open_msec=5"]));
    refusals.push(bench.refused(&["policy", "set", "pay", "open_ms"]));
    refusals.push(bench.refused(&["policy", "set", "pay", &bench.at("none.toml")]));
    refusals.push(bench.refused(&["policy", "set", "pay", bench.folder().to_str().unwrap()]));
    refusals.push(bench.refused(&["--default-policy", &bench.at("typo.toml"), "run", "pay", "--", "true"]));
    insta::assert_snapshot!(all(refusals));
}

#[test]
fn an_assignment_sets_one_value_and_sets_it_once() {
    let bench = Bench::with_records();
    let refused = |changes: &[&str]| bench.refused(&[&["policy", "set", "pay"], changes].concat());
    insta::assert_snapshot!(all([
        refused(&["open_ms=5\nopen_ms=7"]),
        refused(&["open_ms=5 # for now"]),
        refused(&["window={ ms = 10 }\nprobes = 9"]),
        refused(&["open_ms=1", "open_ms=2"]),
        refused(&["open_ms=1", "open=2s"]),
        refused(&["window.ms=10", "window.calls=5"]),
        refused(&["failure_rate=off", "failure_rate.percent=5"]),
        refused(&["open_ms=-1"]),
        refused(&["window.ms=5"]),
        refused(&["window.ms"]),
        refused(&["probes=1", "open_ms"]),
    ]));
    assert_eq!(bench.run(&["policy", "set", "pay", "ramp.over_ms=5", "ramp.from_percent=6"]).code, 0);
}

#[test]
fn a_policy_file_is_a_regular_file_and_not_a_large_one() {
    let bench = Bench::with_records();
    // In another bench: the files of the first are compared before and afterwards.
    let other = Bench::new();
    let fifo = other.at("fifo.toml");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let most = format!("open_ms = 7\n#{}\n", " ".repeat((1 << 20) - 14));
    assert_eq!(most.len(), 1 << 20);
    assert_eq!(bench.run(&["policy", "set", "pay", &bench.write("most.toml", &most)]).code, 0);
    let large = bench.write("large.toml", most + "\n");
    let refusals = [&fifo, "/dev/zero", &large].map(|file| bench.refused(&["policy", "set", "pay", file]));
    insta::assert_snapshot!(all(refusals).replace(other.folder().to_str().unwrap(), "[other]"));
}

#[test]
fn a_policy_in_the_environment_is_the_default_policy() {
    let bench = Bench::with_records();
    bench.write("default.toml", "open_ms = 1234\n");
    let mut show = bench.command(&["policy", "show"]);
    let shown = crate::bench::ran(show.env("HALFOPEN_POLICY", bench.path("default.toml")));
    assert!(shown.stdout.contains("open_ms = 1234\n"), "{shown:?}");
    let mut status = bench.command(&["status"]);
    status.env("HALFOPEN_POLICY", bench.path("none.toml"));
    insta::assert_snapshot!(bench.refused_of(&mut status, "status (HALFOPEN_POLICY=none.toml)"));
}

#[test]
fn a_policy_that_is_shown_can_be_set() {
    let bench = Bench::new();
    assert_eq!(bench.run(&["policy", "set", "pay", "open_ms=77", "ramp.over_ms=5", "ramp.from_percent=6"]).code, 0);
    let toml = bench.run(&["policy", "show", "pay"]).stdout;
    let json = |name: &str| -> serde_json::Value {
        let shown = bench.run(&["policy", "show", name, "--json"]).stdout;
        serde_json::from_str::<serde_json::Value>(&shown).unwrap()["policy"].clone()
    };
    let policy = json("pay");
    assert!(toml.contains("open_ms = 77\n") && toml.contains("ramp = { over_ms = 5, from_percent = 6 }\n"), "{toml}");
    for (name, shown) in [("policy.toml", &toml), ("policy.json", &policy.to_string())] {
        assert_eq!(bench.run(&["policy", "set", name, &bench.write(name, shown)]).code, 0);
        assert_eq!(json(name), policy);
    }
}

#[test]
fn a_key_without_unit_takes_a_duration() {
    assert_eq!(Bench::new().run(&["policy", "set", "pay", "open=10M"]).code, 65, "months, or minutes?");
    let bench = Bench::new();
    let file = bench.write("policy.toml", "open = \"15m\"\nopen_max = \"2h\"\nwindow = \"1m\"\n");
    assert_eq!(bench.run(&["policy", "set", "pay", &file, "lease=10s"]).code, 0);
    let shown = bench.run(&["policy", "show", "pay"]).stdout;
    for line in ["open_ms = 900000\n", "open_max_ms = 7200000\n", "window = { ms = 60000 }\n", "lease_ms = 10000\n"] {
        assert!(shown.contains(line), "{shown}");
    }
}

#[test]
fn unset_gives_the_default_policy_back() {
    let bench = Bench::new();
    let default = bench.write("default.toml", "open_ms = 1234\n");
    let run = |words: &[&str]| bench.run(&[&["--default-policy", &default], words].concat());
    assert_eq!(run(&["policy", "set", "pay", "open_ms=77"]).code, 0);
    assert!(run(&["policy", "show", "pay"]).stdout.starts_with("# the custom policy of pay\n"));
    assert_eq!(run(&["policy", "unset", "pay", "--by", "ops", "--note", "as before"]).code, 0);
    let shown = run(&["policy", "show", "pay"]).stdout;
    assert!(
        shown.starts_with("# the default policy, which pay has\n") && shown.contains("open_ms = 1234\n"),
        "{shown}"
    );
    let last = run(&["history", "pay", "--limit", "1", "--json"]).stdout;
    assert!(last.contains(r#""reason":"configured","by":"ops","note":"as before""#), "{last}");
}

#[test]
fn a_byte_order_mark_in_a_file_is_skipped() {
    let bench = Bench::new();
    for (name, text) in [("policy.toml", "probes = 7\r\n"), ("policy.json", "{\"probes\": 7}")] {
        let file = bench.write(name, format!("\u{feff}{text}"));
        let ran = bench.run(&["--default-policy", &file, "policy", "show"]);
        assert!(ran.code == 0 && ran.stdout.contains("probes = 7"), "{ran:?}");
        assert_eq!(bench.run(&["policy", "set", "pay", &file]).code, 0);
    }
    let replay = "{\"scenario\": \"one step\"}\n{\"at\": 1, \"do\": \"acquire\", \"expect\": \"proceed\"}\n";
    let file = bench.write("replay.jsonl", format!("\u{feff}{replay}"));
    assert_eq!(bench.run(&["replay", &file]).code, 0);
}

#[test]
fn a_preset_is_a_whole_policy_that_can_be_changed() {
    let bench = Bench::new();
    for preset in ["cron", "web", "queue"] {
        assert_eq!(bench.run(&["policy", "set", preset, "--preset", preset, "--create"]).code, 0);
        let [of_preset, set] = [&["policy", "show", "--preset", preset], &["policy", "show", preset][..]]
            .map(|args| bench.run(args).stdout.lines().skip(1).map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(of_preset, set);
    }
    assert_eq!(bench.run(&["policy", "set", "pay", "--preset", "cron", "probe_max=3h"]).code, 0);
    let shown = bench.run(&["policy", "show", "pay"]).stdout;
    for line in ["open_ms = 900000\n", "probe_max_ms = 10800000\n", "consecutive_failures = 2\n"] {
        assert!(shown.contains(line), "{shown}");
    }
}
