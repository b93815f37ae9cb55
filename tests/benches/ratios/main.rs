//! What halfopen costs, next to others in the same process on the same work: one table, measured in one run.
//!
//! `cargo bench --bench ratios` prints it as a table; `-- --json` as JSON lines
//! `{"name", "ours", "peer", "unit", "ratio", "goal", "met"}`; names of rows after `--` measure those alone, and `--quick`
//! measures too little for figures that are worth anything. As a test of `cargo test` it sees to it, quickly, that each
//! row can be measured.

mod admission;
mod bare_etcd;
mod bare_postgres;
mod cold;
mod durable;
mod group;
mod handwritten;
mod load;
mod machine;
mod many;
mod measure;
mod memory;
mod peers;
mod recorded;
mod redis;
mod resp;
mod setting;
mod shared;
mod step;
mod table;

use std::process::ExitCode;

use crate::measure::Effort;
use crate::setting::Result;
use crate::table::Rows;

type Measure = fn(Effort) -> Rows;

/// Rows that are measured together, by their names.
const GROUPS: [(&[&str], Measure); 14] = [
    (&["closed-1t"], admission::closed_one_thread),
    (&["closed-2t"], admission::closed_two_threads),
    (&["refused-1t"], admission::refused),
    (&["durable-step", "durable-step-normal"], durable::rows),
    (&["postgres-read", "postgres-write"], shared::postgres),
    (&["etcd-read", "etcd-write"], shared::etcd),
    (&["group-64"], group::rows),
    (&["redis", "redis-fresh"], redis::rows),
    (&["component-step"], step::component),
    (&["native-step"], step::native),
    (&["store-load"], load::rows),
    (&["many"], many::rows),
    (&["cold"], cold::rows),
    (&["memory"], memory::rows),
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let done = match args.next().as_deref() {
        Some(memory::CHILD) => memory::child(args),
        // `cargo bench` adds it, and `cargo test` does not.
        _ if std::env::args().any(|arg| arg == "--bench") => bench(std::env::args().skip(1)),
        _ => return halfopen_tests::harness::run(halfopen_tests::tests![every_row_can_be_measured]),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn bench(args: impl Iterator<Item = String>) -> Result<()> {
    let (mut json, mut effort) = (false, Effort::Full);
    let mut wanted = Vec::new();
    for arg in args {
        match arg.as_str() {
            "--json" => json = true,
            "--quick" => effort = Effort::Quick,
            "--bench" => {}
            name if GROUPS.iter().any(|(names, _)| names.contains(&name)) => wanted.push(arg),
            other => {
                let names = GROUPS.iter().flat_map(|(names, _)| *names).copied().collect::<Vec<_>>().join(", ");
                return Err(format!("`{other}` is no row; give `--json`, `--quick`, or rows: {names}").into());
            }
        }
    }
    if let Some(busy) = machine::busy() {
        eprintln!("{busy}");
    }
    if !json {
        println!("{}\n\n{}", machine::described(), table::head());
    }
    for (names, measure) in GROUPS {
        let wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|one| one == name);
        if !names.iter().any(|name| wanted(name)) {
            continue;
        }
        eprintln!("measuring {} ...", names.join(", "));
        for row in measure(effort)?.iter().filter(|row| wanted(row.name)) {
            println!("{}", if json { row.json() } else { row.line() });
        }
    }
    Ok(())
}

fn every_row_can_be_measured() {
    for (names, measure) in GROUPS {
        let rows = measure(Effort::Quick).unwrap_or_else(|error| panic!("{}: {error}", names.join(", ")));
        let mut measured: Vec<&str> = rows.iter().map(|row| row.name).collect();
        measured.dedup();
        assert_eq!(measured, names);
        for row in rows {
            match row.ours {
                Some(ours) => assert!(ours.is_finite(), "{}", row.line()),
                None => eprintln!("NOT MEASURED: {}", row.line()),
            }
            let json: serde_json::Value = serde_json::from_str(&row.json()).expect("a row is a line of JSON");
            let keys = ["name", "ours", "peer", "unit", "ratio", "goal", "met"];
            assert_eq!(json.as_object().map(serde_json::Map::len), Some(keys.len()));
            assert!(keys.iter().all(|key| json.get(key).is_some()), "{json}");
        }
    }
}
