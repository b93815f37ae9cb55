//! Hosts to measure with.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use halfopen::store::sqlite::{SqliteOptions, SqliteStore, Synchronous};
use halfopen::{Breaker, Decision, Host, HostBuilder, ManualClock, Outcome, Policy};
use tempfile::TempDir;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// A folder on the disk that the build is on: the one for temporary files may be in memory.
pub fn folder() -> Result<TempDir> {
    Ok(tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?)
}

/// A store in a file of its own.
pub fn sqlite(path: &Path, synchronous: Synchronous) -> Result<SqliteStore> {
    Ok(SqliteStore::open_with(path, SqliteOptions { synchronous, ..SqliteOptions::default() })?)
}

/// A host on a file, synchronous FULL.
pub fn on_file(folder: &TempDir, policy: Policy) -> Result<Host> {
    let store = sqlite(&folder.path().join("breakers.db"), Synchronous::Full)?;
    Ok(Host::builder().store(store).default_policy(policy).build()?)
}

/// It never trips by itself, and asks every time.
pub fn counting() -> Policy {
    Policy::new().consecutive_failures(0).failure_rate_off().fresh_ms(0)
}

/// How long the window of [`probing`] is.
const OPEN: Duration = Duration::from_secs(1);

/// It opens for a second each time, and asks every time.
pub fn probing() -> Policy {
    counting().open_ms(1_000).open_multiplier(1.0).jitter_percent(0).fresh_ms(0)
}

/// A clock that moves only when told.
pub fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(1_800_000_000_000))
}

/// A host that probes, on a clock of its own.
pub fn prober(builder: HostBuilder, clock: &Arc<ManualClock>) -> Result<Host> {
    Ok(builder.clock(clock.clone()).default_policy(probing()).build()?)
}

/// Opens a breaker that [`probe`] then keeps going round.
pub fn open(breaker: &Breaker) -> Result<()> {
    breaker.force(halfopen::Mode::Open, None, "")?;
    breaker.force(halfopen::Mode::None, None, "")?;
    Ok(())
}

/// One durable step: the window is over, acquire takes the lease, and the report opens the breaker again. Both change the
/// record, each with a transition.
pub fn probe(breaker: &Breaker, clock: &ManualClock) {
    clock.advance(OPEN);
    match breaker.acquire().expect("acquire") {
        Decision::Probe(guard) => drop(guard.report(Outcome::Failure).expect("report")),
        other => panic!("no probe was granted: {other:?}"),
    }
}

/// The permit of a closed breaker.
pub fn admitted(breaker: &Breaker) -> Result<halfopen::Permit> {
    match breaker.acquire()? {
        Decision::Proceed(guard) => Ok(guard.into_permit()),
        other => Err(format!("not admitted: {other:?}").into()),
    }
}
