//! A platform as its engineers would write it: an engine, a linker, tenants, and instances of their plugins.

use std::sync::{Arc, LazyLock};

use halfopen::store::MemoryStore;
use halfopen::{Host, ManualClock, Policy};
use halfopen_component::wasmtime::component::{Component, ComponentNamedList, Instance, Lift, Linker, Lower};
use halfopen_component::wasmtime::{Config, Engine, Result, Store};
use halfopen_tenants::{self as tenant, Tenant, TenantCtx, TenantView};
use halfopen_tests::breakers;

/// The plugin, and the plugin that operates its breakers itself.
pub const PLUGIN: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/plugin.wasm"));
const OPERATOR: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/operator.wasm"));

/// More than any plugin takes.
const FUEL: u64 = 1_000_000_000;

/// As most platforms have it: with a limit on how long a plugin runs.
pub static ENGINE: LazyLock<Engine> =
    LazyLock::new(|| Engine::new(Config::new().consume_fuel(true)).expect("an engine"));

/// Compiled once for all tests.
pub static PLUGIN_CODE: LazyLock<Component> =
    LazyLock::new(|| Component::new(&ENGINE, PLUGIN).expect("the plugin compiles"));
static OPERATOR_CODE: LazyLock<Component> =
    LazyLock::new(|| Component::new(&ENGINE, OPERATOR).expect("the operator compiles"));

/// What the platform keeps for each instance of a plugin.
pub struct Data {
    breaker: TenantCtx,
}

impl TenantView for Data {
    fn tenant(&mut self) -> &mut TenantCtx {
        &mut self.breaker
    }
}

/// A platform, whose time stands still until it is told otherwise.
pub struct Platform {
    pub host: Host,
    pub clock: Arc<ManualClock>,
}

impl Platform {
    /// One failure trips, for a second.
    pub fn new() -> Platform {
        Platform::on(Arc::new(MemoryStore::new()), breakers::policy().open_ms(1_000))
    }

    pub fn on(store: Arc<dyn halfopen::Store>, policy: Policy) -> Platform {
        let clock = Arc::new(ManualClock::new(1_000_000));
        let builder = Host::builder().shared_store(store).clock(clock.clone()).default_policy(policy);
        Platform { host: builder.build().expect("a host"), clock }
    }

    /// A tenant with limits that no test reaches by chance.
    pub fn tenant(&self, namespace: &str) -> Tenant {
        Tenant::builder(&self.host, namespace).calls(1_000_000, 1_000_000).build()
    }

    /// Lets a dependency of a tenant trip, and its probe become due.
    pub fn make_due(&self, tenant: &Tenant, dependency: &str) {
        assert_eq!(Plugin::of(tenant).call(dependency, false), "applied: open");
        self.clock.advance(std::time::Duration::from_secs(1));
    }
}

/// A new store for an instance of a tenant's plugin.
pub fn store_of(tenant: &Tenant) -> Store<Data> {
    let mut store = Store::new(&ENGINE, Data { breaker: tenant.context() });
    store.set_fuel(FUEL).expect("the engine counts fuel");
    store
}

/// An instance of a plugin.
pub struct Plugin<T: 'static = Data> {
    store: Store<T>,
    instance: Instance,
}

impl Plugin {
    /// What every plugin gets.
    pub fn of(tenant: &Tenant) -> Plugin {
        Plugin::make(store_of(tenant), &PLUGIN_CODE, tenant::offer_to_linker).expect("a plugin")
    }

    /// A plugin that may operate its breakers.
    pub fn operating(tenant: &Tenant) -> Plugin {
        let offer = |linker: &mut Linker<Data>| {
            tenant::offer_to_linker(linker)?;
            tenant::offer_control_to_linker(linker)
        };
        Plugin::make(store_of(tenant), &OPERATOR_CODE, offer).expect("a plugin")
    }

    /// A plugin that would operate its breakers, where the platform offers no more than the breaker.
    pub fn presuming(tenant: &Tenant) -> Result<Plugin> {
        Plugin::make(store_of(tenant), &OPERATOR_CODE, tenant::offer_to_linker)
    }
}

impl<T> Plugin<T> {
    pub fn make(
        mut store: Store<T>,
        component: &Component,
        offer: impl FnOnce(&mut Linker<T>) -> Result<()>,
    ) -> Result<Plugin<T>> {
        let mut linker = Linker::new(&ENGINE);
        offer(&mut linker)?;
        let instance = linker.instantiate(&mut store, component)?;
        Ok(Plugin { store, instance })
    }

    /// Makes a call through the breaker to a dependency that is up or down.
    pub fn call(&mut self, dependency: &str, up: bool) -> String {
        self.answer("call", (dependency, up))
    }

    /// Asks for a permit, and keeps silent about it.
    pub fn take(&mut self, dependency: &str) -> String {
        self.take_as(dependency, "a plugin")
    }

    pub fn take_as(&mut self, dependency: &str, caller: &str) -> String {
        self.answer("take", (dependency, caller))
    }

    /// Asks for a permit and dies.
    pub fn die(mut self, dependency: &str) {
        self.run::<_, ()>("die", (dependency,)).expect_err("it traps");
    }

    /// Reports a failure under a permit of its own making.
    pub fn forge(&mut self, dependency: &str, epoch: u64, lease: Option<u64>) -> String {
        self.answer("forge", (dependency, epoch, lease))
    }

    /// Renews a lease.
    pub fn renew(&mut self, dependency: &str, epoch: u64, lease: u64) -> String {
        self.answer("renew", (dependency, epoch, lease))
    }

    /// One of the functions that take the name of a dependency and nothing else.
    pub fn operate(&mut self, function: &str, dependency: &str) -> String {
        self.answer(function, (dependency,))
    }

    fn answer<P: ComponentNamedList + Lower>(&mut self, name: &str, arguments: P) -> String {
        let (answer,): (String,) = self.run(name, arguments).expect("the plugin answers");
        answer
    }

    fn run<P, R>(&mut self, name: &str, arguments: P) -> Result<R>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift,
    {
        let function = self.instance.get_typed_func::<P, R>(&mut self.store, name)?;
        function.call(&mut self.store, arguments)
    }
}
