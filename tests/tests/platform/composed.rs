//! The same plugin, linked by the platform and composed with the component.

use std::sync::Arc;
use std::time::Duration;

use halfopen::store::MemoryStore;
use halfopen::{Host, ManualClock, Policy};
use halfopen_component::wasmtime::Store;
use halfopen_component::wasmtime::component::Component;
use halfopen_component::{Commits, PluginCtx, PluginView};
use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions, plug};

use crate::platform::{ENGINE, PLUGIN, Platform, Plugin};

/// What the platform keeps for each instance of a composition: it supplies storage, clock and entropy.
struct Data {
    plugin: PluginCtx,
}

impl PluginView for Data {
    fn plugin(&mut self) -> &mut PluginCtx {
        &mut self.plugin
    }
}

/// The plugin with the component in it.
fn composition() -> Vec<u8> {
    let mut graph = CompositionGraph::new();
    let ours = halfopen::Component::embedded().bytes().to_vec();
    let [ours, theirs] = [("halfopen:breaker", ours), ("test:platform", PLUGIN.to_vec())].map(|(name, bytes)| {
        let package = Package::from_bytes(name, None, bytes, graph.types_mut()).expect("a component");
        graph.register_package(package).expect("a package of its own name")
    });
    plug(&mut graph, vec![ours], theirs).expect("the one exports what the other imports");
    graph.encode(EncodeOptions::default()).expect("a composition")
}

fn composed(code: &Component, store: &Arc<MemoryStore>, clock: &Arc<ManualClock>) -> Plugin<Data> {
    let context =
        PluginCtx::builder(store.clone()).clock(clock.clone()).namespace("acme").commits(Commits::WriteThrough);
    let mut store = Store::new(&ENGINE, Data { plugin: context.build().expect("a context") });
    store.set_fuel(1_000_000_000).expect("the engine counts fuel");
    Plugin::make(store, code, halfopen_component::add_to_linker).expect("a plugin")
}

#[test]
fn a_composition_imports_storage_clock_and_entropy_alone() {
    let code = Component::new(&ENGINE, composition()).unwrap();
    let ty = code.component_type();
    let mut imports: Vec<&str> = ty.imports(&ENGINE).map(|(name, _)| name).collect();
    imports.sort();
    let wanted = ["clock", "entropy", "storage", "types"].map(|name| format!("halfopen:breaker/{name}@0.1.0"));
    assert_eq!(imports, wanted);
}

/// What a plugin is told from the first failure to the recovery. `next` gives the instance for the next call.
fn told(clock: &ManualClock, mut next: impl FnMut() -> String, mut fails: impl FnMut() -> String) -> Vec<String> {
    let mut told: Vec<String> = (0..6).map(|_| fails()).collect();
    clock.advance(Duration::from_secs(10));
    told.push(fails());
    told.push(next());
    clock.advance(Duration::from_secs(20));
    told.push(next());
    told.push(next());
    told
}

#[test]
fn a_composed_plugin_gets_the_answers_of_a_linked_one() {
    // A composition goes by the built-in policy.
    let platform = Platform::on(Arc::new(MemoryStore::new()), Policy::new());
    let tenant = platform.tenant("acme");
    let linked =
        told(&platform.clock, || Plugin::of(&tenant).call("pay", true), || Plugin::of(&tenant).call("pay", false));

    let (store, clock) = (Arc::new(MemoryStore::new()), Arc::new(ManualClock::new(1_000_000)));
    let code = Component::new(&ENGINE, composition()).unwrap();
    let plugin = || composed(&code, &store, &clock);
    let composed = told(&clock, || plugin().call("pay", true), || plugin().call("pay", false));

    assert_eq!(composed, linked);
    let closed = "applied: closed";
    let wanted = [closed, closed, closed, closed, "applied: open", "deferred: open"];
    assert_eq!(linked[..6], wanted);
    assert_eq!(linked[6..], ["applied: open", "deferred: open", closed, closed]);
}

#[test]
fn one_of_a_composed_and_a_linked_plugin_probes() {
    let store = Arc::new(MemoryStore::new());
    let platform = Platform::on(store.clone(), Policy::new().fresh_ms(0));
    let tenant = platform.tenant("acme");
    let code = Component::new(&ENGINE, composition()).unwrap();
    let mut composed = composed(&code, &store, &platform.clock);
    let mut linked = Plugin::of(&tenant);
    for _ in 0..4 {
        assert_eq!(composed.call("pay", false), "applied: closed");
    }
    assert_eq!(linked.call("pay", false), "applied: open");
    assert_eq!(composed.take("pay"), "deferred: open");
    platform.clock.advance(Duration::from_secs(10));
    assert!(composed.take("pay").starts_with("probe "));
    assert_eq!(linked.take("pay"), "deferred: probing");
    // Nobody gives back what a composition holds: the lease ends by itself.
    drop(composed);
    assert_eq!(linked.take("pay"), "deferred: probing");
    platform.clock.advance(Duration::from_secs(5));
    assert_eq!(linked.call("pay", true), "applied: closed");
    assert_eq!(Host::builder().shared_store(store).namespace("acme").build().unwrap().list().unwrap(), ["pay"]);
}
