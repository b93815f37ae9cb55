//! A platform that runs wasmtime already loads the breaker as a plugin: into its own engine, with its own data in the
//! stores, and the records in its own storage.
//!
//! `cargo run --example embed_in_platform`

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use halfopen::plugin::{self, Decision, PluginCtx, PluginPool, PluginPre, PluginView};
use halfopen::store::{CommitOutcome, Cursor, Key, Observed, Page, Snapshot, StoreError, Write};
use halfopen::wasmtime::component::Linker;
use halfopen::wasmtime::{Config, Engine, Store, StoreLimits, StoreLimitsBuilder};
use halfopen::{Component, Outcome, Policy, Transition};

/// What the platform keeps in each of its stores.
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
    // The platform's engine, configured as it likes; here, fuel bounds what runs in it.
    let engine = Engine::new(Config::new().consume_fuel(true).concurrency_support(false))?;
    let mut linker = Linker::new(&engine);
    plugin::add_to_linker::<Data>(&mut linker)?;
    let pre = PluginPre::new(&linker, &Component::embedded())?;

    // Its storage, and how each store of the engine is made and bounded.
    let policy = Policy { consecutive_failures: 3, open_ms: 100, jitter_percent: 0, ..Policy::default() };
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
                let receipt = breakers.report("payments", admission.permit, Outcome::Failure, None)?;
                println!("  called it, and it failed; the breaker is {}", receipt.state);
            }
            other => println!("  {other:?}"),
        }
    }

    thread::sleep(Duration::from_millis(150));
    println!("It has healed, and eight workers come at once:");
    let asked = thread::scope(|scope| {
        let ask = |worker| breakers.acquire("payments", &format!("worker {worker}"));
        let workers: Vec<_> = (1..=8).map(|worker| scope.spawn(move || ask(worker))).collect();
        workers.into_iter().map(|worker| worker.join().expect("no worker panics")).collect::<Vec<_>>()
    });
    for decision in asked {
        if let Decision::Probe(probe) = decision? {
            let receipt = breakers.report("payments", probe.permit, Outcome::Success, None)?;
            println!("  one is the probe, and closes the breaker: {:?}", receipt.state);
        }
    }
    println!("{:?}", breakers.inspect("payments")?);
    Ok(())
}

/// The platform's storage: rows with a version, and a log. `halfopen::conformance` (see `swap_store`) checks such a store.
#[derive(Default)]
struct Storage(Mutex<(Rows, Log)>);

type Rows = BTreeMap<(String, String), Snapshot>;

/// With the namespace of each.
type Log = Vec<(String, Observed)>;

impl halfopen::Store for Storage {
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
            let seen = |transition: &Transition| Observed {
                dependency: dependency.to_owned(),
                transition: transition.clone(),
            };
            log.extend(write.transitions.iter().map(|transition| (namespace.to_owned(), seen(transition))));
            CommitOutcome::Committed
        };
        Ok(writes.iter().map(commit).collect())
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        let (rows, _) = &*self.0.lock().unwrap();
        let live = rows.iter().filter(|((space, _), row)| space == namespace && row.data.is_some());
        Ok(live.map(|((_, dependency), _)| dependency.clone()).collect())
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<Transition>, StoreError> {
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
