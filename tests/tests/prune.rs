//! Dependencies that were used once leave nothing behind once they are pruned.

use std::sync::Arc;
use std::time::Duration;

use halfopen::{Host, ManualClock, Outcome, StaleReason, Verdict};
use halfopen_tests::gone;

const GONE: usize = 10_000;

/// Uses many dependencies once and one twice, prunes, and checks the rest.
fn prunes(host: &Host, clock: &ManualClock) {
    let permit = gone::use_once(host, GONE);
    host.breaker("configured").configure(&halfopen::Policy::new().probes(2), "").unwrap();
    clock.advance(Duration::from_secs(1_000));
    host.breaker("in use").report(permit, Outcome::Success).unwrap();
    assert_eq!(host.list().unwrap().len(), GONE + 2);

    let pruned = host.prune(Duration::from_secs(1_000)).unwrap();
    assert_eq!((pruned.removed, pruned.kept, pruned.failed), (GONE as u64, 2, Vec::new()));
    assert_eq!(host.list().unwrap(), ["configured", "in use"]);
    for dependency in [&gone::name(0), &gone::name(GONE - 1), "in use"] {
        let receipt = host.breaker(dependency).report(permit, Outcome::Failure).unwrap();
        let expected = if dependency == "in use" { Verdict::Applied } else { Verdict::Stale(StaleReason::OldEpoch) };
        assert_eq!(receipt.verdict, expected, "{dependency}");
    }
    assert_eq!(host.prune(Duration::from_secs(1_000)).unwrap().removed, 0);
}

#[test]
fn ten_thousand_dependencies_used_once_leave_memory() {
    let clock = Arc::new(ManualClock::new(1_000_000));
    let host = Host::builder().address("memory").clock(clock.clone()).build().unwrap();
    prunes(&host, &clock);
}

#[test]
fn ten_thousand_dependencies_used_once_leave_the_sqlite_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("breakers.db");
    let clock = Arc::new(ManualClock::new(1_000_000));
    let host = Host::builder().address(path.to_str().unwrap()).clock(clock.clone()).build().unwrap();
    prunes(&host, &clock);
    drop(host);
    let file = rusqlite::Connection::open(&path).unwrap();
    let records: i64 = file.query_row("SELECT count(*) FROM record", [], |row| row.get(0)).unwrap();
    assert_eq!(records, 2, "their versions are alike, and so one for the namespace serves all of them");
}
