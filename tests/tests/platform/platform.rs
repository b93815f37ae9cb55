//! A platform as its engineers would write it: an engine, a linker, tenants, and instances of their plugins.

use std::sync::{Arc, LazyLock};

use halfopen::store::MemoryStore;
use halfopen::tenant::{self, Tenant, TenantCtx, TenantView};
use halfopen::{Host, ManualClock, Policy, Store};
use halfopen_tests::breakers;
use wasmtime::component::{Component, ComponentNamedList, Instance, Lift, Linker, Lower};
use wasmtime::{Config, Engine};

/// The plugin, and the plugin that operates its breakers itself.
const PLUGIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugin.wasm"));
const OPERATOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/operator.wasm"));

/// Each is compiled once for all tests.
struct Code {
    engine: Engine,
    plugin: Component,
    operator: Component,
}

static CODE: LazyLock<Code> = LazyLock::new(|| {
    // As most platforms have it: with a limit on how long a plugin runs.
    let engine = Engine::new(Config::new().consume_fuel(true)).expect("an engine");
    let compile = |bytes| Component::new(&engine, bytes).expect("a component");
    Code { plugin: compile(PLUGIN), operator: compile(OPERATOR), engine }
});

/// What the platform keeps for each instance of a plugin.
struct Data {
    breaker: TenantCtx,
}

impl TenantView for Data {
    fn tenant(&mut self) -> &mut TenantCtx {
        &mut self.breaker
    }
}

/// A platform on one store.
pub struct Platform {
    pub host: Host,
    pub clock: Arc<ManualClock>,
}

impl Platform {
    /// Time stands still in it until it is told otherwise; one failure trips, and what is said holds for a moment.
    pub fn new() -> Platform {
        Platform::on(Arc::new(MemoryStore::new()), Policy { open_ms: 1_000, ..breakers::policy() })
    }

    pub fn on(store: Arc<dyn Store>, policy: Policy) -> Platform {
        let clock = Arc::new(ManualClock::new(1_000_000));
        let builder = Host::builder().shared_store(store).clock(clock.clone()).default_policy(policy);
        Platform { host: builder.build().expect("a host"), clock }
    }

    /// A tenant with limits that no test reaches by chance.
    pub fn tenant(&self, namespace: &str) -> Tenant {
        Tenant::builder(&self.host, namespace).calls(1_000_000, 1_000_000).build()
    }
}

/// An instance of a plugin.
pub struct Plugin {
    store: wasmtime::Store<Data>,
    instance: Instance,
}

impl Plugin {
    /// What every plugin gets.
    pub fn of(tenant: &Tenant) -> Plugin {
        Plugin::make(tenant, &CODE.plugin, |linker| tenant::offer_to_linker(linker)).expect("a plugin")
    }

    /// What a plugin gets that may operate its breakers.
    pub fn operating(tenant: &Tenant) -> Plugin {
        let offer = |linker: &mut Linker<Data>| {
            tenant::offer_to_linker(linker)?;
            tenant::offer_control_to_linker(linker)
        };
        Plugin::make(tenant, &CODE.operator, offer).expect("a plugin")
    }

    /// The plugin that would operate its breakers, where the platform offers no more than the breaker.
    pub fn presuming(tenant: &Tenant) -> wasmtime::Result<Plugin> {
        Plugin::make(tenant, &CODE.operator, |linker| tenant::offer_to_linker(linker))
    }

    fn make(
        tenant: &Tenant,
        component: &Component,
        offer: impl FnOnce(&mut Linker<Data>) -> wasmtime::Result<()>,
    ) -> wasmtime::Result<Plugin> {
        let mut linker = Linker::new(&CODE.engine);
        offer(&mut linker)?;
        let mut store = wasmtime::Store::new(&CODE.engine, Data { breaker: tenant.context() });
        store.set_fuel(u64::MAX)?;
        let instance = linker.instantiate(&mut store, component)?;
        Ok(Plugin { store, instance })
    }

    /// Makes a call through the breaker to a dependency that is up or down.
    pub fn call(&mut self, dependency: &str, up: bool) -> String {
        self.run("call", (dependency, up)).expect("an answer")
    }

    /// Asks for a permit, and keeps it.
    pub fn take(&mut self, dependency: &str) -> String {
        self.take_as(dependency, "a plugin")
    }

    pub fn take_as(&mut self, dependency: &str, caller: &str) -> String {
        self.run("take", (dependency, caller)).expect("an answer")
    }

    /// Asks for a permit and dies.
    pub fn die(mut self, dependency: &str) {
        let died = self.run::<_, ()>("die", (dependency,));
        assert!(died.is_err(), "it traps");
    }

    /// Reports a failure under a permit of its own making.
    pub fn forge(&mut self, dependency: &str, epoch: u64, lease: Option<u64>) -> String {
        self.run("forge", (dependency, epoch, lease)).expect("an answer")
    }

    pub fn renew(&mut self, dependency: &str, epoch: u64, lease: u64) -> String {
        self.run("renew", (dependency, epoch, lease)).expect("an answer")
    }

    /// One of the functions of an operator.
    pub fn operate(&mut self, function: &str, dependency: &str) -> String {
        self.run(function, (dependency,)).expect("an answer")
    }

    fn run<P, A>(&mut self, name: &str, arguments: P) -> wasmtime::Result<A>
    where
        P: ComponentNamedList + Lower,
        (A,): ComponentNamedList + Lift,
    {
        todo!()
    }
}
