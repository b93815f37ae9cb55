//! The async functions of the linker.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use futures_lite::future::{self, block_on, poll_once};
use halfopen::store::{CommitOutcome, Cursor, Key, MemoryStore, Page, Snapshot, StoreError, Write};
use halfopen_component::wasmtime::component::{Instance, Linker};
use halfopen_component::wasmtime::{self, Store};
use halfopen_tenants::{self as tenant, Tenant};
use halfopen_tests::breakers::{self, PATIENCE, until};

use crate::platform::{Data, ENGINE, PLUGIN_CODE, Platform, store_of};

/// A store whose answers wait while its gate is shut.
#[derive(Default)]
struct Gated {
    records: MemoryStore,
    shut: Mutex<bool>,
    opened: Condvar,
    /// The number of answers that have waited.
    waited: AtomicU64,
}

impl Gated {
    fn set(&self, shut: bool) {
        *self.shut.lock().unwrap() = shut;
        self.opened.notify_all();
    }

    fn pass(&self) {
        let shut = self.shut.lock().unwrap();
        if *shut {
            self.waited.fetch_add(1, Ordering::SeqCst);
        }
        let waited = self.opened.wait_timeout_while(shut, PATIENCE, |shut| *shut).unwrap().1;
        assert!(!waited.timed_out(), "nobody opens the gate: the one who would is held up");
    }
}

impl halfopen::Store for Gated {
    fn load(&self, key: Key<'_>) -> Result<Snapshot, StoreError> {
        self.pass();
        self.records.load(key)
    }

    fn commit(&self, writes: &[Write<'_>]) -> Result<Vec<CommitOutcome>, StoreError> {
        self.pass();
        self.records.commit(writes)
    }

    fn list(&self, namespace: &str) -> Result<Vec<String>, StoreError> {
        self.pass();
        self.records.list(namespace)
    }

    fn history(&self, key: Key<'_>, limit: usize) -> Result<Vec<String>, StoreError> {
        self.records.history(key, limit)
    }

    fn transitions(&self, namespace: &str, after: Cursor, limit: usize) -> Result<Page, StoreError> {
        self.records.transitions(namespace, after, limit)
    }

    fn remove_namespace(&self, namespace: &str) -> Result<(), StoreError> {
        self.records.remove_namespace(namespace)
    }
}

/// An instance of a plugin that is called by async functions.
struct AsyncPlugin {
    store: Store<Data>,
    instance: Instance,
}

impl AsyncPlugin {
    async fn of(tenant: &Tenant) -> AsyncPlugin {
        let mut linker: Linker<Data> = Linker::new(&ENGINE);
        tenant::offer_to_linker_async(&mut linker).expect("the linker is empty");
        let mut store = store_of(tenant);
        let instance = linker.instantiate_async(&mut store, &PLUGIN_CODE).await.expect("a plugin");
        AsyncPlugin { store, instance }
    }

    async fn call(&mut self, dependency: &str, up: bool) -> wasmtime::Result<String> {
        let call = self.instance.get_typed_func::<(&str, bool), (String,)>(&mut self.store, "call")?;
        Ok(call.call_async(&mut self.store, (dependency, up)).await?.0)
    }

    async fn take(&mut self, dependency: &str) -> wasmtime::Result<String> {
        let take = self.instance.get_typed_func::<(&str, &str), (String,)>(&mut self.store, "take")?;
        Ok(take.call_async(&mut self.store, (dependency, "a plugin")).await?.0)
    }
}

fn gated() -> (Arc<Gated>, Platform) {
    let store = Arc::new(Gated::default());
    let platform = Platform::on(store.clone(), breakers::policy().open_ms(1_000));
    (store, platform)
}

#[test]
fn a_call_that_waits_for_the_store_blocks_no_executor() {
    let (store, platform) = gated();
    let tenant = platform.tenant("acme");
    let mut plugin = block_on(AsyncPlugin::of(&tenant));
    store.set(true);
    let open = async {
        // One thread runs both: this is reached only if the plugin's call lets it go.
        while store.waited.load(Ordering::SeqCst) == 0 {
            future::yield_now().await;
        }
        store.set(false);
    };
    let (answer, ()) = block_on(future::zip(plugin.call("pay", true), open));
    assert_eq!(answer.unwrap(), "applied: closed");
}

#[test]
fn of_many_plugins_on_one_thread_exactly_one_probes() {
    let platform = Platform::new();
    let tenant = platform.tenant("acme");
    platform.make_due(&tenant, "pay");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answers: Vec<(String, AsyncPlugin)> = runtime.block_on(async {
        let mut plugins = tokio::task::JoinSet::new();
        for _ in 0..16 {
            let tenant = tenant.clone();
            plugins.spawn(async move {
                let mut plugin = AsyncPlugin::of(&tenant).await;
                let answer = plugin.take("pay").await.expect("an answer");
                (answer, plugin)
            });
        }
        plugins.join_all().await
    });
    let of = |kind: &str| answers.iter().filter(|(answer, _)| answer.starts_with(kind)).count();
    assert_eq!((of("probe "), of("deferred: probing")), (1, 15));
}

#[test]
fn a_plugin_dropped_in_the_middle_of_an_acquire_gives_it_back() {
    let (store, platform) = gated();
    let tenant = platform.tenant("acme");
    platform.make_due(&tenant, "pay");
    let mut plugin = block_on(AsyncPlugin::of(&tenant));
    store.set(true);
    block_on(async {
        let mut take = pin!(plugin.take("pay"));
        while store.waited.load(Ordering::SeqCst) == 0 {
            assert!(poll_once(&mut take).await.is_none(), "the gate is shut");
        }
    });
    drop(plugin);
    store.set(false);
    let breaker = tenant.host().breaker("pay");
    // Granted and given back: the token has been used up.
    until("the lease is given back", || {
        let seen = breaker.inspect().unwrap();
        (seen.state == halfopen::State::HalfOpen && seen.leases.is_empty()).then_some(())
    });
}

#[test]
fn a_plugin_that_ends_gives_its_lease_back_without_a_wait() {
    let (store, platform) = gated();
    let tenant = platform.tenant("acme");
    platform.make_due(&tenant, "pay");
    let mut plugin = block_on(AsyncPlugin::of(&tenant));
    assert!(block_on(plugin.take("pay")).unwrap().starts_with("probe "));
    store.set(true);
    drop(plugin);
    store.set(false);
    let breaker = tenant.host().breaker("pay");
    until("the lease is given back", || breaker.inspect().unwrap().leases.is_empty().then_some(()));
}
