//! Pools of handles, each in a wasmtime store of its own.

use halfopen_contract::BreakerError;
use halfopen_contract::engine::{Answer, Request};
use halfopen_contract::pool::Pool;
use wasmtime::Store;

use super::context::PluginView;
use super::handle::{AsyncPlugin, Plugin};
use super::pre::PluginPre;
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
    stores: Stores<T>,
    pool: Pool<(Store<T>, Plugin)>,
}

/// A [`PluginPool`] for async calls.
pub struct AsyncPluginPool<T: PluginView> {
    stores: Stores<T>,
    pool: Pool<(Store<T>, AsyncPlugin)>,
}

type MakeStore<T> = dyn Fn() -> wasmtime::Result<Store<T>> + Send + Sync;

type BeforeEach<T> = dyn Fn(&mut Store<T>) -> wasmtime::Result<()> + Send + Sync;

/// How the platform makes a wasmtime store, and readies it for a call.
struct Stores<T: PluginView> {
    pre: PluginPre<T>,
    make: Box<MakeStore<T>>,
    before_each: Box<BeforeEach<T>>,
}

impl<T: PluginView> Stores<T> {
    fn make(&self) -> Result<Store<T>, PoolError> {
        (self.make)().map_err(no_store)
    }

    fn ready(&self, store: &mut Store<T>) -> Result<(), PoolError> {
        (self.before_each)(store).map_err(no_store)
    }
}

fn no_store(error: wasmtime::Error) -> PoolError {
    PoolError::NoStore { why: format!("{error:#}") }
}

macro_rules! pool {
    ($pool:ident, $instantiate:ident $(, $async:ident, $await:ident)?) => {
        impl<T: PluginView> $pool<T> {
            /// A pool. `make` makes its wasmtime stores, with all that the platform sets in them.
            pub fn new(
                pre: PluginPre<T>,
                make: impl Fn() -> wasmtime::Result<Store<T>> + Send + Sync + 'static,
            ) -> Self {
                let stores = Stores { pre, make: Box::new(make), before_each: Box::new(|_| Ok(())) };
                $pool { stores, pool: Pool::new(pool_size()) }
            }

            /// Does this to the wasmtime store before each call: sets an epoch deadline, or fuel.
            #[must_use]
            pub fn before_each(
                mut self,
                each: impl Fn(&mut Store<T>) -> wasmtime::Result<()> + Send + Sync + 'static,
            ) -> Self {
                self.stores.before_each = Box::new(each);
                self
            }

            /// The number of idle instances that it keeps, at most. Default twice the number of processors.
            #[must_use]
            pub fn keep(self, most: usize) -> Self {
                $pool { pool: Pool::new(most), ..self }
            }

            /// Performs an operation: the typed operations of this pool in one.
            ///
            /// # Errors
            /// [`PoolError`].
            pub $($async)? fn perform(&self, request: &Request) -> Result<Answer, PoolError> {
                let mut slot = self.pool.acquire();
                let (mut store, mut plugin) = match slot.take() {
                    Some((mut store, plugin)) => {
                        self.stores.ready(&mut store)?;
                        (store, plugin)
                    }
                    None => {
                        let mut store = self.stores.make()?;
                        self.stores.ready(&mut store)?;
                        let plugin = self.stores.pre.$instantiate(&mut store)$(.$await)? ?;
                        (store, plugin)
                    }
                };
                let result = plugin.perform(&mut store, request)$(.$await)?;
                if !plugin.is_spent() {
                    slot.put_back((store, plugin));
                }
                Ok(result?)
            }
        }

        impl<T: PluginView> std::fmt::Debug for $pool<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($pool)).field("keep", &self.pool.kept()).finish_non_exhaustive()
            }
        }
    };
}

pool!(PluginPool, instantiate);
pool!(AsyncPluginPool, instantiate_async, async, await);
