//! Components that were made for another release of the contract.

use std::sync::Arc;

use halfopen::store::MemoryStore;
use halfopen::{Component, ComponentError};
use halfopen_component::wasmtime::component::Linker;
use halfopen_component::wasmtime::{Engine, Store};
use halfopen_component::{PluginPre, PrepareError, add_to_linker, add_to_linker_async};
use halfopen_contract::types::Decision;

use crate::platform::{Data, context};
use crate::wat::Wat;

/// The component, with the names of another release.
fn of_release(release: &str) -> Component {
    let (own, other) = ("@0.1.0", format!("@{release}"));
    assert_eq!(own.len(), other.len(), "the length of each name stands before it");
    let mut bytes = Component::embedded().bytes().to_vec();
    let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(own.as_bytes())).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + own.len()].copy_from_slice(other.as_bytes());
    }
    Component::from_bytes(bytes).unwrap()
}

fn linker() -> Linker<Data> {
    let mut linker = Linker::new(&Engine::default());
    add_to_linker(&mut linker).unwrap();
    linker
}

pub fn another_release_of_the_contract_is_linked_by_the_same_names() {
    let linker = linker();
    let pre = PluginPre::new(&linker, &of_release("0.1.7")).unwrap();
    let context = context(Arc::new(MemoryStore::new())).build().unwrap();
    let mut store = Store::new(linker.engine(), Data { tenant: "shop", plugin: context });
    let mut plugin = pre.instantiate(&mut store).unwrap();
    assert!(matches!(plugin.acquire(&mut store, "pay", "A"), Ok(Decision::Proceed(_))));
}

pub fn another_version_of_the_contract_is_refused() {
    let error = PluginPre::new(&linker(), &of_release("0.2.0")).unwrap_err();
    assert!(matches!(error, PrepareError::Component(ComponentError::OtherWorld { .. })), "{error:?}");
    assert!(error.to_string().contains("0.2.0"), "{error}");
}

pub fn foreign_imports_are_refused_even_where_the_linker_has_them() {
    let bytes = Wat::default().component();
    let mut linker: Linker<Data> = Linker::new(&Engine::default());
    add_to_linker_async(&mut linker).unwrap();
    assert!(PluginPre::new(&linker, &Component::from_bytes(bytes).unwrap()).is_ok());

    // A component that imports a function beside the contract.
    let more = wat::parse_str(r#"(component (import "tell" (func)))"#).unwrap();
    linker.root().func_wrap("tell", |_, (): ()| Ok(())).unwrap();
    let error = PluginPre::new(&linker, &Component::from_bytes(more).unwrap()).unwrap_err();
    assert!(matches!(error, PrepareError::Component(ComponentError::OtherImports { .. })), "{error:?}");
}
