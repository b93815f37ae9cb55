use wasmtime::component::{Component as Code, InstancePre, Linker};

use super::context::PluginView;
use crate::component::{Component, world};
use crate::error::PrepareError;

/// The component, ready to be instantiated in any wasmtime store of a platform. Make one a process.
pub struct PluginPre<T: PluginView> {
    pub(super) pre: InstancePre<T>,
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
        PluginPre::link(linker, &code, component.place())
    }

    /// The same with code that the platform has compiled, or has kept from an earlier time.
    ///
    /// # Errors
    /// [`PrepareError`].
    pub fn from_compiled(linker: &Linker<T>, code: &Code) -> Result<Self, PrepareError> {
        PluginPre::link(linker, code, "the component")
    }

    fn link(linker: &Linker<T>, code: &Code, place: &str) -> Result<Self, PrepareError> {
        world::check(place, code)?;
        let pre = linker.instantiate_pre(code).map_err(|error| PrepareError::Linker { why: format!("{error:#}") })?;
        Ok(PluginPre { pre })
    }

    /// wasmtime's own form of it.
    pub fn instance_pre(&self) -> &InstancePre<T> {
        &self.pre
    }
}

impl<T: PluginView> Clone for PluginPre<T> {
    fn clone(&self) -> Self {
        PluginPre { pre: self.pre.clone() }
    }
}

impl<T: PluginView> std::fmt::Debug for PluginPre<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginPre").finish_non_exhaustive()
    }
}
