use wasmtime::component::{Component as Code, InstancePre, Linker};

use crate::component::world;
use crate::error::ComponentError;

/// Why the component cannot be prepared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The wasmtime engine does not compile it.
    #[error(
        "the platform's engine does not take the component: {why}; its Config needs the component model, the WebAssembly \
         features that are on by default, room for it in a pooling allocator, and a compiler unless the code is compiled \
         already"
    )]
    Engine {
        /// What wasmtime says.
        why: String,
    },
    /// It is not of the world that a handle is for.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The linker does not supply its imports.
    #[error(
        "the linker does not give the component what it imports: {why}; call `halfopen_component::add_to_linker` first"
    )]
    Linker {
        /// What does not fit.
        why: String,
    },
}

/// Checks and links compiled code. `place` is its name in messages.
pub(crate) fn prepare<T>(linker: &Linker<T>, code: &Code, place: &str) -> Result<InstancePre<T>, PrepareError> {
    world::check(place, code)?;
    linker.instantiate_pre(code).map_err(|error| PrepareError::Linker { why: format!("{error:#}") })
}
