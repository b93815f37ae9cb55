//! What a dependency takes: in the file, and in a process that calls it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use halfopen::store::sqlite::Synchronous;
use halfopen::{Host, Outcome, Policy};

use crate::many::{filled, named};
use crate::measure::Effort;
use crate::peers::work;
use crate::recorded::recorded;
use crate::setting::{self, Result};
use crate::table::{Goal, Row, Rows};

/// The argument that makes this program the process that is measured.
pub const CHILD: &str = "--memory-child";

pub fn rows(effort: Effort) -> Rows {
    let count = effort.count(20_000);
    let folder = setting::folder()?;
    // Closed, with failures and successes all over its window.
    let policy = Policy::new().consecutive_failures(0);
    let written = recorded(policy, 60, |breaker, clock| {
        clock.advance(Duration::from_millis(500));
        for outcome in [Outcome::Failure, Outcome::Success, Outcome::Success] {
            breaker.report(setting::admitted(breaker)?, outcome)?;
        }
        Ok(())
    })?;
    let record = written.last().ok_or("nothing was written")?;
    let (empty, full) = (folder.path().join("empty.db"), folder.path().join("breakers.db"));
    filled(&empty, 0, record)?;
    filled(&full, count, record)?;
    let in_file = (size(&full)? as f64 - size(&empty)? as f64) / f64::from(count);

    let measured = Command::new(std::env::current_exe()?).arg(CHILD).arg(&full).arg(count.to_string()).output()?;
    if !measured.status.success() {
        return Err(String::from_utf8_lossy(&measured.stderr).into_owned().into());
    }
    let in_process: f64 = String::from_utf8(measured.stdout)?.trim().parse()?;
    let row = |ours, unit, limit, note| Row::alone("memory", unit, Goal::OursAtMost(limit), ours, note);
    let bytes = record.data.len();
    Ok(vec![
        row(in_file, "bytes in the file", 400.0, format!("a record of {bytes} bytes, no history; n = {count}")),
        row(in_process, "bytes in the process", 1_000.0, format!("handles that have made calls; n = {count}")),
    ])
}

/// The size of a store's file, with nothing left in its log.
fn size(path: &Path) -> Result<u64> {
    let connection = rusqlite::Connection::open(path)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(std::fs::metadata(path)?.len())
}

/// Prints by how many bytes a dependency this process grows. `args`: the file, and how many dependencies it has.
pub fn child(mut args: impl Iterator<Item = String>) -> Result<()> {
    let path = args.next().ok_or("the file is missing")?;
    let count: u32 = args.next().ok_or("the number of dependencies is missing")?.parse()?;
    let store = setting::sqlite(path.as_ref(), Synchronous::Normal)?;
    let host = Host::builder().store(store).build()?;
    let called = |numbers: std::ops::Range<u32>| {
        let breakers: Vec<_> = numbers.map(|number| host.breaker(named(number))).collect();
        for breaker in &breakers {
            assert_eq!(breaker.call(|| work(true)), Ok(1));
        }
        breakers
    };
    // First what there is once a process: caches, connections, instances.
    let first = called(0..count / 10);
    let before = resident()?;
    let rest = called(count / 10..count);
    let grown = resident()? - before;
    println!("{}", grown as f64 / rest.len() as f64);
    std::hint::black_box((first, rest));
    // Handing the counts over would take a durable write each.
    std::process::exit(0)
}

fn resident() -> Result<i64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS in /proc/self/status")?;
    let kib: i64 = line.split_whitespace().nth(1).ok_or("VmRSS without a number")?.parse()?;
    Ok(kib * 1024)
}
