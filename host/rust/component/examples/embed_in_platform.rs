//! A platform that runs wasmtime already loads the breaker as a plugin: into its own engine, with its own data in the
//! wasmtime stores, and the records in its own storage.
//!
//! `cargo run -p halfopen-component --example embed_in_platform`

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use halfopen_component::contract::documents::Policy;
use halfopen_component::contract::store::{
    self, CommitOutcome, Cursor, Key, Observed, Page, Snapshot, StoreError, Write,
};
use halfopen_component::contract::types::{Decision, Outcome};
use halfopen_component::wasmtime::component::Linker;
use halfopen_component::wasmtime::{Config, Engine, Store, StoreLimits, StoreLimitsBuilder};
use halfopen_component::{Component, PluginCtx, PluginPool, PluginPre, PluginView, add_to_linker};

/// The data of each wasmtime store of the platform.
struct Data {
    limits: StoreLimits,
    breakers: PluginCtx,
}

impl PluginView for Data {
    fn plugin(&mut self) -> &mut PluginCtx {
        &mut self.breakers
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The platform's engine, in a configuration of its own; here, fuel bounds each call.
    let engine = Engine::new(Config::new().consume_fuel(true).concurrency_support(false))?;
    let mut linker = Linker::new(&engine);
    add_to_linker::<Data>(&mut linker)?;
    let pre = PluginPre::new(&linker, &Component::embedded())?;

    // Its storage, and how each wasmtime store is made and bounded.
    let policy = Policy::new().consecutive_failures(3).open_ms(100).jitter_percent(0);
    let context = PluginCtx::builder(Arc::new(Storage::default())).namespace("shop").default_policy(policy);
    let breakers = PluginPool::new(pre, move || {
        let limits = StoreLimitsBuilder::new().memory_size(2 << 20).build();
        let breakers = context.build()?;
        let mut store = Store::new(&engine, Data { limits, breakers });
        store.limiter(|data| &mut data.limits);
        Ok(store)
    })
    .before_each(|store| store.set_fuel(1_000_000));

    println!("The provider is down:");
    for _ in 0..4 {
        match breakers.acquire("payments", "worker 1")? {
            Decision::Proceed(admission) => {
                let receipt = breakers.report("payments", admission.permit, Outcome::Failure)?;
                println!("  called it, and it failed; the breaker is {}", receipt.state);
            }
            other => println!("  {other:?}"),
        }
    }

    thread::sleep(Duration::from_millis(150));
    println!("It has healed, and eight workers come at once:");
    let decisions = thread::scope(|scope| {
        let acquire = |worker| breakers.acquire("payments", &format!("worker {worker}"));
        let workers: Vec<_> = (1..=8).map(|worker| scope.spawn(move || acquire(worker))).collect();
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).collect::<Vec<_>>()
    });
    for decision in decisions {
        if let Decision::Probe(probe) = decision? {
            let receipt = breakers.report("payments", probe.permit, Outcome::Success)?;
            println!("  one is the probe, and closes the breaker: {:?}", receipt.state);
        }
    }
    println!("{:?}", breakers.inspect("payments")?);
    Ok(())
}

/// The platform's storage: rows with a version, and a log. `contract::conformance` (feature `conformance`) checks such a store.
#[derive(Default)]
struct Storage(Mutex<(Rows, Log)>);

type Rows = BTreeMap<(String, String), Snapshot>;

/// Transitions, each with its namespace.
type Log = Vec<(String, Observed)>;

impl store::Store for Storage {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        let (rows, _) = &*self.0.lock().unwrap();
        Ok(rows.get(&(key.namespace.to_owned(), key.dependency.to_owned())).cloned().unwrap_or_default())
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        let (rows, log) = &mut *self.0.lock().unwrap();
        let commit = |write: &Write<'_>| {
            let Key { namespace, dependency } = write.key;
            let row = rows.entry((namespace.to_owned(), dependency.to_owned())).or_default();
            if row.version != write.based_on {
                return CommitOutcome::Stale(row.clone());
            }
            *row = Snapshot { version: write.version, data: write.data.map(<[u8]>::to_vec), at: None };
            if write.data.is_none() {
                log.retain(|(space, seen)| space != namespace || seen.dependency != dependency);
            }
            let observed =
                |transition: &String| Observed { dependency: dependency.to_owned(), transition: transition.clone() };
            log.extend(write.transitions.iter().map(|transition| (namespace.to_owned(), observed(transition))));
            CommitOutcome::Committed
        };
        Ok(writes.iter().map(commit).collect())
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        let (rows, _) = &*self.0.lock().unwrap();
        let live = rows.iter().filter(|((space, _), row)| space == namespace && row.data.is_some());
        Ok(live.map(|((_, dependency), _)| dependency.clone()).collect())
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        let (_, log) = &*self.0.lock().unwrap();
        let own = log.iter().filter(|(space, seen)| space == key.namespace && seen.dependency == key.dependency);
        let own: Vec<_> = own.map(|(_, seen)| seen.transition.clone()).collect();
        Ok(own[own.len().saturating_sub(limit)..].to_vec())
    }

    /// Nothing in this platform follows the stream.
    fn transitions(&self, _: &str, _: Cursor, _: usize) -> Result<Page, StoreError> {
        Err(StoreError::Denied { place: "of the platform".to_owned(), why: "it has no stream".to_owned() })
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        let (rows, log) = &mut *self.0.lock().unwrap();
        log.retain(|(space, _)| space != namespace);
        for (_, row) in rows.iter_mut().filter(|((space, _), _)| space == namespace) {
            *row = Snapshot { version: row.version + 1, ..Snapshot::default() };
        }
        Ok(())
    }
}
