use wasmtime::component::{Component as Code, InstancePre, Linker};

use super::exports::ExportIndices;
use crate::component::world;
use crate::error::ComponentError;

/// The component, checked to be of our world and linked: instances can be made from it.
pub(crate) struct Prepared<T: 'static> {
    pub instance_pre: InstancePre<T>,
    pub(super) exports: ExportIndices,
}

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

impl<T> Prepared<T> {
    /// Checks and links compiled code. `place` is its name in messages.
    pub fn new(linker: &Linker<T>, code: &Code, place: &str) -> Result<Self, PrepareError> {
        world::check(place, code)?;
        let exports = ExportIndices::of(code).map_err(|why| world::other_world(place, why))?;
        let instance_pre =
            linker.instantiate_pre(code).map_err(|error| PrepareError::Linker { why: format!("{error:#}") })?;
        Ok(Prepared { instance_pre, exports })
    }
}

impl<T> Clone for Prepared<T> {
    fn clone(&self) -> Self {
        Prepared { instance_pre: self.instance_pre.clone(), exports: self.exports.clone() }
    }
}
