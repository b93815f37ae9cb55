//! The component, compiled by a platform's engine and linked.

use wasmtime::component::{Component as Code, InstancePre, Linker};

use super::PluginView;
use crate::bindings;
use crate::compiled;
use crate::component::Component;
use crate::error::ComponentError;
use crate::world;

/// The component, ready to be instantiated in any store of a platform. Make one a process.
pub struct PluginPre<T: PluginView> {
    pub(super) plain: bindings::ComponentPre<T>,
    pub(super) in_async: bindings::in_async::ComponentPre<T>,
}

/// Why the component cannot be made ready.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The engine does not compile it.
    #[error(
        "the platform's engine does not take the component: {why}; its Config needs the component model, the WebAssembly \
         features that are on by default, room for it in a pooling allocator, and a compiler unless the code is compiled \
         already"
    )]
    Engine {
        /// What the engine says.
        why: String,
    },
    /// It is not of the world that a handle is for.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The linker does not give it what it imports.
    #[error(
        "the linker does not give the component what it imports: {why}; call `halfopen::plugin::add_to_linker` first"
    )]
    Linker {
        /// What does not fit.
        why: String,
    },
}

impl<T: PluginView> PluginPre<T> {
    /// Compiles the component with the engine of the linker, which takes some 50 ms; see
    /// [`from_compiled`](PluginPre::from_compiled).
    ///
    /// # Errors
    /// [`PrepareError`].
    pub fn new(linker: &Linker<T>, component: &Component) -> Result<Self, PrepareError> {
        let code = Code::new(linker.engine(), component.bytes())
            .map_err(|error| PrepareError::Engine { why: format!("{error:#}") })?;
        Self::of(linker, &code, component.place())
    }

    /// The same with code that the platform has compiled, or has kept from an earlier time.
    ///
    /// # Errors
    /// [`PrepareError`].
    pub fn from_compiled(linker: &Linker<T>, code: &Code) -> Result<Self, PrepareError> {
        Self::of(linker, code, "the component")
    }

    fn of(linker: &Linker<T>, code: &Code, place: &str) -> Result<Self, PrepareError> {
        world::check(place, &compiled::imports_of(code), &compiled::exports_of(code))?;
        let linked = linker.instantiate_pre(code);
        let linked = linked.map_err(|error| PrepareError::Linker { why: format!("{error:#}") })?;
        let other_world = |error: wasmtime::Error| ComponentError::OtherWorld {
            place: place.to_owned(),
            wanted: world::WORLD.to_owned(),
            why: format!("{error:#}"),
        };
        let plain = bindings::ComponentPre::new(linked.clone()).map_err(other_world)?;
        let in_async = bindings::in_async::ComponentPre::new(linked).map_err(other_world)?;
        Ok(PluginPre { plain, in_async })
    }

    /// What wasmtime instantiates.
    pub fn instance_pre(&self) -> &InstancePre<T> {
        self.plain.instance_pre()
    }
}

impl<T: PluginView> Clone for PluginPre<T> {
    fn clone(&self) -> Self {
        PluginPre { plain: self.plain.clone(), in_async: self.in_async.clone() }
    }
}

impl<T: PluginView> std::fmt::Debug for PluginPre<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginPre").finish_non_exhaustive()
    }
}
