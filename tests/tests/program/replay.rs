//! `halfopen replay`.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use halfopen_tests::program::root;
use rustix::process::{Pid, Signal};

use crate::bench::{Bench, all};

const GOOD: &str = "{\"scenario\": \"two steps\"}\n\
    {\"at\": 1, \"do\": \"acquire\", \"expect\": \"proceed\"}\n\
    {\"at\": 2, \"do\": \"report\", \"outcome\": \"success\", \"expect\": \"applied\", \"state\": \"closed\"}\n";

#[test]
fn a_replay_shows_each_answer_and_what_does_not_hold() {
    let bench = Bench::new();
    let good = bench.write("good.jsonl", GOOD);
    let wrong = bench.write("wrong.jsonl", GOOD.replace("proceed", "probe"));
    insta::assert_snapshot!(all([
        bench.shown(&["replay", &good]),
        bench.shown(&["replay", "--quiet", &good]),
        bench.shown(&["replay", &wrong]),
        bench.shown(&["replay", "--quiet", &wrong, &good]),
        bench.shown(&["replay", "--engine", "native", &wrong]),
    ]));
}

#[test]
fn a_malformed_replay_file_is_named_with_its_line() {
    let bench = Bench::with_records();
    let files: [(&str, &[u8]); 11] = [
        ("cut.jsonl", &GOOD.as_bytes()[..GOOD.len() - 30]),
        ("empty.jsonl", b""),
        ("headless.jsonl", b"{\"at\": 1, \"do\": \"acquire\"}\n"),
        ("stranger.jsonl", b"{\"scenario\": \"x\"}\n{\"at\": 1, \"do\": \"dance\"}\n"),
        ("typo.jsonl", b"{\"scenario\": \"x\"}\n{\"at\": 1, \"do\": \"acquire\", \"expct\": \"probe\"}\n"),
        ("timeless.jsonl", b"{\"scenario\": \"x\"}\n{\"do\": \"acquire\"}\n"),
        ("latin.jsonl", b"{\"scenario\": \"caf\xe9\"}\n"),
        ("policy.jsonl", b"{\"scenario\": \"x\", \"policy\": {\"open_ms\": 0, \"probes\": 0}}\n"),
        ("key.jsonl", b"{\"scenario\": \"x\", \"policy\": {\"open_msec\": 5}}\n"),
        ("never.jsonl", b"{\"scenario\": \"x\"}\n{\"at\": 1, \"do\": \"acquire\", \"times\": 0}\n"),
        ("endless.jsonl", b"{\"scenario\": \"x\"}\n{\"at\": 1, \"do\": \"acquire\", \"times\": 1000001}\n"),
    ];
    let mut shown: Vec<String> = Vec::new();
    for (name, content) in files {
        let file = bench.write(name, content);
        let ran = bench.run(&["replay", "--quiet", &file]);
        assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1), "{name}: {ran:?}");
        shown.push(ran.stderr.replace(bench.folder().to_str().unwrap(), "[folder]"));
    }
    insta::assert_snapshot!(shown.concat());
}

#[test]
fn a_replay_file_that_cannot_be_read_is_named() {
    let bench = Bench::with_records();
    insta::assert_snapshot!(all([
        bench.shown(&["replay", &bench.at("none.jsonl")]),
        bench.shown(&["replay", bench.folder().to_str().unwrap()]),
    ]));
}

#[test]
fn the_scenarios_hold_and_leave_nothing_in_the_store() {
    let bench = Bench::new();
    let mut files: Vec<String> = fs::read_dir(root().join("tests/scenarios"))
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .filter(|path| path.ends_with(".jsonl"))
        .collect();
    files.sort();
    let sqlite = format!("sqlite:{}", bench.at("replay.db"));
    for (store, engine) in [("memory", "component"), ("memory", "native"), (&sqlite, "component"), (&sqlite, "native")]
    {
        let mut args = vec!["replay", "--quiet", "--store", store, "--engine", engine];
        args.extend(files.iter().map(String::as_str));
        let ran = bench.run(&args);
        let totals = format!("{0} files: {0} hold, 0 fail\n", files.len());
        assert_eq!((ran.code, ran.stdout, ran.stderr.as_str()), (0, totals, ""));
    }
    let database = rusqlite::Connection::open(bench.path("replay.db")).unwrap();
    let left: (u64, u64) = database
        .query_row("SELECT (SELECT count(*) FROM record), (SELECT count(*) FROM transition)", [], |row| {
            Ok((row.get::<_, i64>(0)? as u64, row.get::<_, i64>(1)? as u64))
        })
        .unwrap();
    assert_eq!(left, (0, 0));
    assert!(!bench.store().exists(), "a replay went to the user's store");
}

#[test]
fn a_replay_file_can_come_from_a_pipe() {
    let bench = Bench::new();
    bench.write("good.jsonl", GOOD);
    let ran = bench.shell("halfopen replay --quiet - < good.jsonl");
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "1 file: 1 hold, 0 fail\n"));
}

/// A replay file that takes hours.
fn long(bench: &Bench) -> String {
    let step = "{\"at\": 1, \"do\": \"acquire\", \"times\": 1000000}\n";
    bench.write("long.jsonl", format!("{{\"scenario\": \"long\"}}\n{}", step.repeat(1_000)))
}

#[test]
fn a_signal_ends_a_long_replay_which_leaves_nothing() {
    let bench = Bench::new();
    let store = format!("sqlite:{}", bench.at("replay.db"));
    let mut command = bench.command(&["replay", "--store", &store, &long(&bench)]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.nth(1).unwrap().unwrap().contains("acquire payments by A: proceed"));
    rustix::process::kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    lines.for_each(drop);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(output.stderr, b"halfopen: stopped; the records of the run are removed from the store\n");
    let database = rusqlite::Connection::open(bench.path("replay.db")).unwrap();
    assert_eq!(database.query_row("SELECT count(*) FROM record", [], |row| row.get::<_, i64>(0)), Ok(0));
}

#[test]
fn a_replay_ends_when_its_output_is_closed() {
    let bench = Bench::new();
    long(&bench);
    let ran = bench.shell("halfopen replay long.jsonl | head -n 1");
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "long.jsonl: long\n", ""));
}
