//! A pool of handles, each in a wasmtime store of its own.

use halfopen_contract::BreakerError;
use halfopen_contract::engine::{Answer, Request};
use halfopen_contract::pool::Pool;
use wasmtime::{AsContextMut, Store};

use super::context::PluginView;
use super::handle::Plugin;
use super::pre::PluginPre;
use crate::calls::{Calls, plain};
use crate::error::InstantiateError;
use crate::runtime::pool_size;

/// Why an operation on a pool failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The platform made no wasmtime store.
    #[error("no wasmtime store could be made: {why}")]
    NoStore {
        /// What the platform says.
        why: String,
    },
    /// No instance could be made in the wasmtime store.
    #[error(transparent)]
    Instantiate(#[from] InstantiateError),
    /// The operation itself failed.
    #[error(transparent)]
    Breaker(#[from] BreakerError),
}

/// The breakers of a namespace, through as many instances of the component as there are calls at a time. After a failure the
/// wasmtime store is dropped with its instance, and the next call has a new one.
pub struct PluginPool<T: PluginView> {
    pre: PluginPre<T>,
    make: Box<MakeStore<T>>,
    before_each: Box<BeforeEach<T>>,
    pool: Pool<(Store<T>, Plugin)>,
}

type MakeStore<T> = dyn Fn() -> wasmtime::Result<Store<T>> + Send + Sync;

type BeforeEach<T> = dyn Fn(&mut Store<T>) -> wasmtime::Result<()> + Send + Sync;

impl<T: PluginView> PluginPool<T> {
    /// A pool. `make` makes its wasmtime stores, with all that the platform sets in them. It keeps twice as many idle
    /// instances as there are processors.
    pub fn new(pre: PluginPre<T>, make: impl Fn() -> wasmtime::Result<Store<T>> + Send + Sync + 'static) -> Self {
        PluginPool { pre, make: Box::new(make), before_each: Box::new(|_| Ok(())), pool: Pool::new(pool_size()) }
    }

    /// Does this to the wasmtime store before each call: sets an epoch deadline, or fuel.
    #[must_use]
    pub fn before_each(self, each: impl Fn(&mut Store<T>) -> wasmtime::Result<()> + Send + Sync + 'static) -> Self {
        PluginPool { before_each: Box::new(each), ..self }
    }

    /// Performs an operation: the typed operations of this pool in one.
    ///
    /// # Errors
    /// [`PoolError`].
    pub fn perform(&self, request: &Request) -> Result<Answer, PoolError> {
        plain(self.run(Calls::Plain, request))
    }

    /// [`perform`](PluginPool::perform) for async calls.
    ///
    /// # Errors
    /// [`PoolError`].
    pub async fn perform_async(&self, request: &Request) -> Result<Answer, PoolError> {
        self.run(Calls::Async, request).await
    }

    async fn run(&self, calls: Calls, request: &Request) -> Result<Answer, PoolError> {
        let no_store = |error: wasmtime::Error| PoolError::NoStore { why: format!("{error:#}") };
        let mut slot = self.pool.acquire();
        let (mut store, plugin) = match slot.take() {
            Some((store, plugin)) => (store, Some(plugin)),
            None => ((self.make)().map_err(no_store)?, None),
        };
        (self.before_each)(&mut store).map_err(no_store)?;
        let mut plugin = match plugin {
            Some(plugin) => plugin,
            None => Plugin::new(calls, &self.pre, store.as_context_mut()).await?,
        };
        let result = plugin.run(calls, store.as_context_mut(), request).await;
        if !plugin.is_spent() {
            slot.put_back((store, plugin));
        }
        Ok(result?)
    }
}

impl<T: PluginView> std::fmt::Debug for PluginPool<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginPool").finish_non_exhaustive()
    }
}
