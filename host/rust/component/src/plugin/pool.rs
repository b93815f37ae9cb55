//! Pools of handles, each in a wasmtime store of its own.

use halfopen_contract::BreakerError;
use halfopen_contract::engine::{Answer, Request};
use halfopen_contract::pool::Pool;
use wasmtime::{AsContextMut, Store};

use super::context::PluginView;
use super::handle::Handle;
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
pub struct PluginPool<T: PluginView>(Handles<T>);

/// A [`PluginPool`] for async calls.
pub struct AsyncPluginPool<T: PluginView>(Handles<T>);

type MakeStore<T> = dyn Fn() -> wasmtime::Result<Store<T>> + Send + Sync;

type BeforeEach<T> = dyn Fn(&mut Store<T>) -> wasmtime::Result<()> + Send + Sync;

/// The handles of a pool, and how the platform makes a wasmtime store and readies it for a call.
struct Handles<T: PluginView> {
    pre: PluginPre<T>,
    make: Box<MakeStore<T>>,
    before_each: Box<BeforeEach<T>>,
    pool: Pool<(Store<T>, Handle)>,
}

impl<T: PluginView> Handles<T> {
    async fn perform(&self, calls: Calls, request: &Request) -> Result<Answer, PoolError> {
        let no_store = |error: wasmtime::Error| PoolError::NoStore { why: format!("{error:#}") };
        let mut slot = self.pool.acquire();
        let (mut store, handle) = match slot.take() {
            Some((store, handle)) => (store, Some(handle)),
            None => ((self.make)().map_err(no_store)?, None),
        };
        (self.before_each)(&mut store).map_err(no_store)?;
        let mut handle = match handle {
            Some(handle) => handle,
            None => Handle::new(calls, &self.pre, store.as_context_mut()).await?,
        };
        let result = handle.perform(store.as_context_mut(), request).await;
        if !handle.is_spent() {
            slot.put_back((store, handle));
        }
        Ok(result?)
    }
}

impl<T: PluginView> PluginPool<T> {
    /// Performs an operation: the typed operations of this pool in one.
    ///
    /// # Errors
    /// [`PoolError`].
    pub fn perform(&self, request: &Request) -> Result<Answer, PoolError> {
        plain(self.0.perform(Calls::Plain, request))
    }
}

impl<T: PluginView> AsyncPluginPool<T> {
    /// Performs an operation: the typed operations of this pool in one.
    ///
    /// # Errors
    /// [`PoolError`].
    pub async fn perform(&self, request: &Request) -> Result<Answer, PoolError> {
        self.0.perform(Calls::Async, request).await
    }
}

macro_rules! pool {
    ($($pool:ident)*) => {$(
        impl<T: PluginView> $pool<T> {
            /// A pool. `make` makes its wasmtime stores, with all that the platform sets in them.
            pub fn new(
                pre: PluginPre<T>,
                make: impl Fn() -> wasmtime::Result<Store<T>> + Send + Sync + 'static,
            ) -> Self {
                let pool = Pool::new(pool_size());
                $pool(Handles { pre, make: Box::new(make), before_each: Box::new(|_| Ok(())), pool })
            }

            /// Does this to the wasmtime store before each call: sets an epoch deadline, or fuel.
            #[must_use]
            pub fn before_each(
                self,
                each: impl Fn(&mut Store<T>) -> wasmtime::Result<()> + Send + Sync + 'static,
            ) -> Self {
                $pool(Handles { before_each: Box::new(each), ..self.0 })
            }

            /// The number of idle instances that it keeps, at most. Default twice the number of processors.
            #[must_use]
            pub fn keep(self, most: usize) -> Self {
                $pool(Handles { pool: Pool::new(most), ..self.0 })
            }
        }

        impl<T: PluginView> std::fmt::Debug for $pool<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($pool)).field("keep", &self.0.pool.kept()).finish_non_exhaustive()
            }
        }
    )*};
}

pool!(PluginPool AsyncPluginPool);
