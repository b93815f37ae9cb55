//! Instances that are kept, each in a store of its own, and lent to one call at a time.

use std::sync::{Mutex, PoisonError};

use wasmtime::Store;

use super::{AsyncPlugin, InstantiateError, Plugin, PluginPre, PluginView};
use crate::error::BreakerError;
use crate::op::{Answer, Op};

/// Why an operation on a pool came to nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PoolError {
    /// The platform made no store.
    #[error("no store could be made: {why}")]
    NoStore {
        /// What the platform says.
        why: String,
    },
    /// No instance could be made in the store.
    #[error(transparent)]
    Instantiate(#[from] InstantiateError),
    /// The operation itself came to nothing.
    #[error(transparent)]
    Breaker(#[from] BreakerError),
}

/// The breakers of a namespace, through as many instances of the component as there are calls at a time. After a fault the
/// store is thrown away with its instance, and the next call has a new one.
pub struct PluginPool<T: PluginView> {
    pre: PluginPre<T>,
    shelf: Shelf<T, Plugin>,
}

/// A [`PluginPool`] for async calls.
pub struct AsyncPluginPool<T: PluginView> {
    pre: PluginPre<T>,
    shelf: Shelf<T, AsyncPlugin>,
}

/// A store and the instance in it.
type Seat<T, P> = (Store<T>, P);

type Make<T> = dyn Fn() -> wasmtime::Result<Store<T>> + Send + Sync;

type Each<T> = dyn Fn(&mut Store<T>) -> wasmtime::Result<()> + Send + Sync;

struct Shelf<T: PluginView, P> {
    make: Box<Make<T>>,
    /// What is set in a store before each call.
    each: Box<Each<T>>,
    most: usize,
    idle: Mutex<Vec<Seat<T, P>>>,
}

impl<T: PluginView, P> Shelf<T, P> {
    fn new(make: impl Fn() -> wasmtime::Result<Store<T>> + Send + Sync + 'static) -> Self {
        let most = std::thread::available_parallelism().map_or(4, |n| n.get().max(2) * 2);
        Shelf { make: Box::new(make), each: Box::new(|_| Ok(())), most, idle: Mutex::default() }
    }

    /// The last returned first: one caller alone always has the same, and its memory is warm.
    fn take(&self) -> Option<Seat<T, P>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn store(&self) -> Result<Store<T>, PoolError> {
        (self.make)().map_err(no_store)
    }

    fn ready(&self, store: &mut Store<T>) -> Result<(), PoolError> {
        (self.each)(store).map_err(no_store)
    }

    fn put_back(&self, seat: Seat<T, P>) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < self.most {
            idle.push(seat);
        }
    }
}

fn no_store(error: wasmtime::Error) -> PoolError {
    PoolError::NoStore { why: format!("{error:#}") }
}

macro_rules! pool {
    ($pool:ident) => {
        impl<T: PluginView> $pool<T> {
            /// A pool whose stores are made by `make`, with all that the platform sets in them.
            pub fn new(
                pre: PluginPre<T>,
                make: impl Fn() -> wasmtime::Result<Store<T>> + Send + Sync + 'static,
            ) -> Self {
                $pool { pre, shelf: Shelf::new(make) }
            }

            /// Does this to the store before each call: sets an epoch deadline, or fuel.
            #[must_use]
            pub fn before_each(
                mut self,
                each: impl Fn(&mut Store<T>) -> wasmtime::Result<()> + Send + Sync + 'static,
            ) -> Self {
                self.shelf.each = Box::new(each);
                self
            }

            /// How many instances it keeps while nobody calls. Default twice the number of processors.
            #[must_use]
            pub fn keep(mut self, most: usize) -> Self {
                self.shelf.most = most;
                self
            }
        }

        impl<T: PluginView> std::fmt::Debug for $pool<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($pool)).field("keep", &self.shelf.most).finish_non_exhaustive()
            }
        }
    };
}

pool!(PluginPool);
pool!(AsyncPluginPool);

impl<T: PluginView> PluginPool<T> {
    pub(super) fn perform(&self, op: &Op) -> Result<Answer, PoolError> {
        let (mut store, mut plugin) = match self.shelf.take() {
            Some((mut store, plugin)) => {
                self.shelf.ready(&mut store)?;
                (store, plugin)
            }
            None => {
                let mut store = self.shelf.store()?;
                self.shelf.ready(&mut store)?;
                let plugin = self.pre.instantiate(&mut store)?;
                (store, plugin)
            }
        };
        let result = plugin.perform(wasmtime::AsContextMut::as_context_mut(&mut store), op);
        if !plugin.is_spent() {
            self.shelf.put_back((store, plugin));
        }
        Ok(result?)
    }
}

impl<T: PluginView> AsyncPluginPool<T> {
    pub(super) async fn perform(&self, op: &Op) -> Result<Answer, PoolError> {
        let (mut store, mut plugin) = match self.shelf.take() {
            Some((mut store, plugin)) => {
                self.shelf.ready(&mut store)?;
                (store, plugin)
            }
            None => {
                let mut store = self.shelf.store()?;
                self.shelf.ready(&mut store)?;
                let plugin = self.pre.instantiate_async(&mut store).await?;
                (store, plugin)
            }
        };
        let result = plugin.perform(wasmtime::AsContextMut::as_context_mut(&mut store), op).await;
        if !plugin.is_spent() {
            self.shelf.put_back((store, plugin));
        }
        Ok(result?)
    }
}
