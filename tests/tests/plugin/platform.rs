//! A platform: an engine with a configuration of its own, and stores with data of its own.

use std::future::Future;
use std::sync::Arc;

use halfopen::store::MemoryStore;
use halfopen::{Component, ManualClock, Policy};
use halfopen_component::wasmtime::component::Linker;
use halfopen_component::wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig, Store};
use halfopen_component::{
    CORE_INSTANCES, Plugin, PluginCtx, PluginCtxBuilder, PluginPool, PluginPre, PluginView, TABLES, add_to_linker,
    add_to_linker_async,
};
use halfopen_tests::breakers::policy;

/// The data of the platform's wasmtime stores.
pub struct Data {
    pub tenant: &'static str,
    pub plugin: PluginCtx,
}

impl PluginView for Data {
    fn plugin(&mut self) -> &mut PluginCtx {
        &mut self.plugin
    }
}

/// The parts of a platform that exist once.
#[derive(Clone)]
pub struct Platform {
    pub engine: Engine,
    pub pre: PluginPre<Data>,
    /// The same, linked for async calls.
    pub in_async: PluginPre<Data>,
}

impl Platform {
    pub fn new(config: &Config, component: &Component) -> Platform {
        let engine = Engine::new(config).unwrap();
        let mut linker = Linker::new(&engine);
        add_to_linker(&mut linker).unwrap();
        let mut for_async = Linker::new(&engine);
        add_to_linker_async(&mut for_async).unwrap();
        let pre = PluginPre::new(&linker, component).unwrap();
        let in_async = PluginPre::new(&for_async, component).unwrap();
        Platform { engine, pre, in_async }
    }

    pub fn plain() -> Platform {
        Platform::new(&Config::new(), &Component::embedded())
    }

    pub fn of(component: Vec<u8>) -> Platform {
        Platform::new(&Config::new(), &Component::from_bytes(component).unwrap())
    }

    pub fn store(&self, context: &PluginCtxBuilder) -> Store<Data> {
        Store::new(&self.engine, Data { tenant: "shop", plugin: context.build().unwrap() })
    }

    pub fn seat(&self, context: &PluginCtxBuilder) -> Seat {
        let mut store = self.store(context);
        let plugin = self.pre.instantiate(&mut store).unwrap();
        Seat { store, plugin }
    }

    pub async fn async_seat(&self, context: &PluginCtxBuilder) -> Seat {
        let mut store = self.store(context);
        let plugin = self.in_async.instantiate_async(&mut store).await.unwrap();
        Seat { store, plugin }
    }

    pub fn pool(&self, context: &PluginCtxBuilder) -> PluginPool<Data> {
        let (platform, context) = (self.clone(), context.clone());
        PluginPool::new(self.pre.clone(), move || Ok(platform.store(&context)))
    }

    pub fn async_pool(&self, context: &PluginCtxBuilder) -> PluginPool<Data> {
        let (platform, context) = (self.clone(), context.clone());
        PluginPool::new(self.in_async.clone(), move || Ok(platform.store(&context)))
    }
}

/// A wasmtime store of the platform, and the handle in it.
pub struct Seat {
    pub store: Store<Data>,
    pub plugin: Plugin,
}

/// A context on a store of records, with the policy of these tests.
pub fn context(store: Arc<dyn halfopen::Store>) -> PluginCtxBuilder {
    PluginCtx::builder(store).default_policy(policy())
}

/// The same on a clock that stands still.
pub fn on(store: &Arc<MemoryStore>, clock: &Arc<ManualClock>, policy: Policy) -> PluginCtxBuilder {
    PluginCtx::builder(store.clone()).default_policy(policy).clock(clock.clone())
}

/// An allocator with room for exactly this number of instances of the component.
pub fn pooling(instances: u32) -> Config {
    pooling_of(instances, CORE_INSTANCES, TABLES)
}

/// The same where a component may have at most these numbers of core instances and tables.
pub fn pooling_of(instances: u32, core_instances: u32, tables: u32) -> Config {
    let mut room = PoolingAllocationConfig::new();
    room.total_component_instances(instances)
        .total_core_instances(instances * core_instances)
        .total_memories(instances)
        .total_tables(instances * tables)
        .total_stacks(instances)
        .max_core_instances_per_component(core_instances)
        .max_memories_per_component(1)
        .max_tables_per_component(tables)
        .max_memory_size(2 << 20)
        .table_elements(100);
    let mut config = Config::new();
    config.allocation_strategy(InstanceAllocationStrategy::Pooling(room)).memory_reservation(2 << 20);
    config
}

/// Runs a future on an executor with one thread.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}
