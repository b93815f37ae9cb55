//! What halfopen costs, next to others in the same process on the same work: one table, measured in one run.
//!
//! `cargo bench -p halfopen-tests --bench ratios` prints it as a table; `-- --json` as JSON lines
//! `{"name", "ours", "peer", "unit", "ratio", "goal", "met"}`; names of rows after `--` measure those alone.

mod admission;
mod cold;
mod component;
mod durable;
mod group;
mod handwritten;
mod load;
mod machine;
mod many;
mod measure;
mod memory;
mod peers;
mod redis;
mod resp;
mod setting;
mod table;
mod tap;

use std::error::Error;

use crate::table::Row;

/// Rows that are measured together, by their names.
const GROUPS: [(&[&str], fn() -> Result<Vec<Row>, Box<dyn Error>>); 11] = [
    (&["closed-1t"], admission::closed_one_thread),
    (&["closed-2t"], admission::closed_two_threads),
    (&["refused-1t"], admission::refused),
    (&["durable-step", "durable-step-normal"], durable::rows),
    (&["group-64"], group::rows),
    (&["redis", "redis-fresh"], redis::rows),
    (&["component-step"], component::rows),
    (&["store-load"], load::rows),
    (&["many"], many::rows),
    (&["cold"], cold::rows),
    (&["memory"], memory::rows),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut json = false;
    let mut wanted = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--json" => json = true,
            // Cargo adds it.
            "--bench" => {}
            memory::CHILD => return memory::child(&args.next().unwrap_or_default()),
            name if GROUPS.iter().any(|(names, _)| names.contains(&name)) => wanted.push(arg),
            other => {
                let names = GROUPS.iter().flat_map(|(names, _)| *names).copied().collect::<Vec<_>>().join(", ");
                return Err(format!("`{other}` is no row; give `--json`, or rows: {names}").into());
            }
        }
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
        for row in measure()?.iter().filter(|row| wanted(row.name)) {
            println!("{}", if json { row.json() } else { row.line() });
        }
    }
    Ok(())
}
