//! What wasmtime's generator makes of the contract. The types are those of `wire`.

#![allow(missing_docs)]

wasmtime::component::bindgen!({
    path: "wit",
    world: "component",
    with: { "halfopen:breaker/types": crate::wire::types },
});

/// The exports once more, for async calls.
#[cfg(feature = "plugin")]
pub mod in_async {
    wasmtime::component::bindgen!({
        path: "wit",
        world: "component",
        exports: { default: async },
        with: { "halfopen:breaker/types": crate::wire::types },
    });
}
