use halfopen_contract::BreakerError;
use halfopen_contract::engine::{Answer, Request};
use wasmtime::AsContextMut;

use super::context::PluginView;
use super::handle::Handle;
use super::pre::PluginPre;
use crate::calls::{Calls, plain};
use crate::error::InstantiateError;

/// The breakers of a namespace, through an instance of the component in a wasmtime store of the platform.
///
/// It belongs to the wasmtime store in which it was made; with another it panics, as all of wasmtime does.
pub struct Plugin(Handle);

/// A [`Plugin`] for async calls.
pub struct AsyncPlugin(Handle);

impl<T: PluginView> PluginPre<T> {
    /// Makes an instance in a wasmtime store, and sets its default policy.
    ///
    /// # Errors
    /// [`InstantiateError`].
    pub fn instantiate(&self, mut store: impl AsContextMut<Data = T>) -> Result<Plugin, InstantiateError> {
        plain(Handle::new(Calls::Plain, self, store.as_context_mut())).map(Plugin)
    }

    /// Makes an instance for async calls in a wasmtime store, and sets its default policy.
    ///
    /// # Errors
    /// [`InstantiateError`].
    pub async fn instantiate_async(
        &self,
        mut store: impl AsContextMut<Data = T>,
    ) -> Result<AsyncPlugin, InstantiateError> {
        Handle::new(Calls::Async, self, store.as_context_mut()).await.map(AsyncPlugin)
    }
}

impl Plugin {
    /// Performs an operation: the typed operations of this handle in one.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub fn perform<T: PluginView>(
        &mut self,
        mut store: impl AsContextMut<Data = T>,
        request: &Request,
    ) -> Result<Answer, BreakerError> {
        plain(self.0.perform(store.as_context_mut(), request))
    }
}

impl AsyncPlugin {
    /// Performs an operation: the typed operations of this handle in one.
    ///
    /// # Errors
    /// [`BreakerError`].
    pub async fn perform<T: PluginView>(
        &mut self,
        mut store: impl AsContextMut<Data = T>,
        request: &Request,
    ) -> Result<Answer, BreakerError> {
        self.0.perform(store.as_context_mut(), request).await
    }
}

macro_rules! handle {
    ($($handle:ident)*) => {$(
        impl $handle {
            /// Whether every further operation answers [`EngineError::Spent`](halfopen_contract::EngineError::Spent): drop
            /// the wasmtime store, and make another.
            pub fn is_spent(&self) -> bool {
                self.0.is_spent()
            }
        }

        impl std::fmt::Debug for $handle {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($handle)).field("is_spent", &self.is_spent()).finish_non_exhaustive()
            }
        }
    )*};
}

handle!(Plugin AsyncPlugin);
