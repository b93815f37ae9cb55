//! The component in a platform's own wasmtime: its `Engine`, its `Linker`, its `Store`s.

mod context;
mod handle;
mod operations;
mod pool;
mod pre;

pub use context::{Commits, ContextError, PluginCtx, PluginCtxBuilder, PluginView};
pub use handle::Plugin;
pub use pool::{PluginPool, PoolError};
pub use pre::PluginPre;

use wasmtime::component::Linker;

use crate::calls::Calls;
use crate::instance::link;

/// The number of core instances that an instance of the embedded component consists of.
pub const CORE_INSTANCES: u32 = 3;

/// The number of tables that an instance of the embedded component has.
pub const TABLES: u32 = 2;

/// Supplies the imports of the component: `storage`, `clock` and `entropy` of `halfopen:breaker@0.1`. For calls that are not
/// async; in async ones a context with [`Commits::WriteThrough`] would block the executor.
///
/// # Errors
/// The linker has one of them already.
pub fn add_to_linker<T: PluginView>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    link(linker, Calls::Plain).map_err(added_twice)
}

/// The same for async calls. A wasmtime store with an instance that is linked with it takes async calls only.
///
/// # Errors
/// The linker has one of them already.
pub fn add_to_linker_async<T: PluginView>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    link(linker, Calls::Async).map_err(added_twice)
}

fn added_twice(error: wasmtime::Error) -> wasmtime::Error {
    error.context("the linker has storage, clock or entropy of halfopen:breaker already; add them once, plain or async")
}
