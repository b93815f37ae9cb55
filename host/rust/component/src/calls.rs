//! Plain and async calls: what lies between them and wasmtime is written once, as async code.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_timer::Delay;
use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentNamedList, Instance, InstancePre, Lift, Lower, TypedFunc};

/// How an instance is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// In the caller's thread, which waits. Nothing is ever pending.
    Plain,
    /// By wasmtime's async functions; work that blocks is done on a thread for such work.
    Async,
}

impl Calls {
    pub async fn instantiate<T: Send>(
        self,
        pre: &InstancePre<T>,
        store: &mut StoreContextMut<'_, T>,
    ) -> wasmtime::Result<Instance> {
        match self {
            Calls::Plain => pre.instantiate(store),
            Calls::Async => pre.instantiate_async(store).await,
        }
    }

    pub async fn call<T: Send, P, R>(
        self,
        function: &TypedFunc<P, R>,
        store: &mut StoreContextMut<'_, T>,
        arguments: P,
    ) -> wasmtime::Result<R>
    where
        P: ComponentNamedList + Lower,
        R: ComponentNamedList + Lift + 'static,
    {
        match self {
            Calls::Plain => function.call(store, arguments),
            Calls::Async => function.call_async(store, arguments).await,
        }
    }

    pub async fn sleep(self, pause: Duration) {
        match self {
            _ if pause.is_zero() => {}
            Calls::Plain => std::thread::sleep(pause),
            Calls::Async => Delay::new(pause).await,
        }
    }

    /// Does work that blocks. Where the future is dropped, work that has begun goes on: a commit is never half made.
    pub async fn block<R: Send + 'static>(self, work: impl FnOnce() -> R + Send + 'static) -> R {
        match self {
            Calls::Plain => work(),
            Calls::Async => blocking::unblock(work).await,
        }
    }
}

/// Returns the output of a future of [plain](Calls::Plain) calls, which is ready at once.
pub(crate) fn plain<R>(future: impl Future<Output = R>) -> R {
    let mut future = pin!(future);
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => futures_lite::future::block_on(future),
    }
}
