//! Names without a record, and acts on many dependencies.

use crate::bench::{Bench, all};

#[test]
fn an_act_on_an_unknown_name_fails_and_suggests_one() {
    let bench = Bench::with_records();
    bench.host().breaker("payments").reset("").unwrap();
    insta::assert_snapshot!(all([
        bench.refused(&["reset", "paymnets"]),
        bench.refused(&["forget", "Payments"]),
        bench.refused(&["force", "payment", "none"]),
        bench.refused(&["reset", "shipping"]),
        bench.refused(&["policy", "unset", "paymnets"]),
        bench.refused(&["policy", "set", "paymnets", "open=10s"]),
        bench.refused(&["force", "paymnets", "open"]),
        bench.refused(&["reset", "paymnets*"]),
        bench.refused(&["reset", "pay["]),
    ]));
}

#[test]
fn a_new_name_is_called_new() {
    let bench = Bench::with_records();
    let run = |args: &[&str]| bench.shown(args);
    insta::assert_snapshot!(all([
        run(&["policy", "set", "shipping", "open=10s"]),
        run(&["policy", "set", "shipping", "open=11s"]),
        run(&["force", "pya", "open", "--create"]),
        run(&["force", "mail", "closed", "--for", "10m"]),
        run(&["force", "mail", "none"]),
        run(&["force", "mail", "none"]),
    ]));
}

#[test]
fn an_act_on_many_is_shown_first_and_done_on_demand() {
    let bench = Bench::new();
    for name in ["job-1", "job-2", "mail"] {
        bench.host().breaker(name).reset("").unwrap();
    }
    let refusal = bench.refused(&["force", "job-*", "open"]);
    assert!(refusal.contains("2 dependencies would be forced open") && refusal.contains("--yes"), "{refusal}");
    let shown = bench.run(&["force", "job-*", "open", "--dry-run"]).stdout;
    assert_eq!(shown.lines().count(), 2, "{shown}");
    assert!(!bench.run(&["status"]).stdout.contains("forced"));
    assert_eq!(bench.run(&["force", "job-*", "open", "--yes"]).stdout.lines().count(), 2);
    assert!(bench.run(&["status"]).stdout.starts_with("3 dependencies: 2 forced, 1 closed\n"));
    assert_eq!(bench.run(&["reset", "job-*", "--yes", "--note", "done"]).code, 0);
    assert_eq!(bench.run(&["forget", "job-?", "--yes"]).code, 0);
    assert_eq!(bench.run(&["list"]).stdout, "mail\n");
}

#[test]
fn a_rehearsed_prune_removes_nothing() {
    let bench = Bench::new();
    for name in ["job-1", "job-2", "mail"] {
        bench.host().breaker(name).reset("").unwrap();
    }
    std::thread::sleep(std::time::Duration::from_millis(5));
    let shown = bench.run(&["prune", "--idle", "1ms", "--dry-run"]).stdout;
    assert!(shown.contains("mail: would be removed\n") && shown.ends_with("3 would be removed, 0 kept\n"), "{shown}");
    assert_eq!(bench.run(&["prune", "job-*", "--idle", "1h", "--dry-run"]).stdout, "0 would be removed, 2 kept\n");
    assert_eq!(bench.run(&["list"]).stdout.lines().count(), 3);
    assert_eq!(bench.run(&["prune", "job-*", "--idle", "1ms", "--yes"]).stdout, "2 removed, 0 kept\n");
    assert_eq!(bench.run(&["list"]).stdout, "mail\n");
}
