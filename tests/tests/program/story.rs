//! What happened: the history of one dependency and of all.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::bench::Bench;

fn fields(bench: &Bench, args: &[&str], key: &str) -> Vec<String> {
    let shown = bench.run(&[&["history", "--json"], args].concat()).stdout;
    let field = |line: &str| serde_json::from_str::<Value>(line).unwrap()[key].as_str().unwrap_or_default().to_owned();
    shown.lines().map(field).collect()
}

#[test]
fn the_history_of_all_is_in_order_and_can_be_narrowed() {
    let bench = Bench::with_records();
    let act = |args: &[&str]| assert_eq!(bench.run(args).code, 0, "{args:?}");
    act(&["force", "mail", "open", "--by", "ops", "--note", "maintenance"]);
    act(&["reset", "pay"]);
    act(&["forget", "mail"]);
    let names = fields(&bench, &[], "dependency");
    assert_eq!(names, ["pay", "pay", "pay", "mail"], "a removal ends the history of its record");
    assert_eq!(fields(&bench, &[], "reason"), ["configured", "consecutive-failures", "reset", "forgotten"]);
    assert_eq!(fields(&bench, &["p*"], "dependency"), ["pay", "pay", "pay"]);
    assert_eq!(fields(&bench, &["pay", "--limit", "1"], "reason"), ["reset"]);
    assert_eq!(fields(&bench, &["--limit", "1"], "reason"), ["forgotten"]);
    assert_eq!(fields(&bench, &["--since", "1h"], "reason").len(), 4);
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert_eq!(fields(&bench, &["--since", "1ms"], "reason"), Vec::<String>::new());
    let shown = bench.run(&["history"]).stdout;
    assert!(shown.lines().count() == 4 && shown.contains("closed -> open"), "{shown}");
}

#[test]
fn a_history_that_is_followed_shows_new_entries() {
    let bench = Bench::with_records();
    let mut command = bench.command(&["history", "--follow", "--limit", "1"]);
    let mut follower = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(follower.stdout.take().unwrap()).lines();
    let mut next = || lines.next().unwrap().unwrap();
    assert!(next().contains("consecutive-failures"));
    assert_eq!(bench.run(&["force", "mail", "open", "--by", "ops", "--note", "upgrade"]).code, 0);
    let line = next();
    assert!(
        ["mail", "closed -> open", "forced", "by ops", "note: upgrade"].iter().all(|part| line.contains(part)),
        "{line}"
    );
    follower.kill().unwrap();
    follower.wait().unwrap();
}
