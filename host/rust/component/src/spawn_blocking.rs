//! Work that blocks, on a thread for such work, for async code on any executor.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use blocking::Task;

/// Returns the result of the work. Where the future is dropped, the work goes on: a commit that has begun is made.
pub(crate) fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> impl Future<Output = T> {
    Detaching(Some(blocking::unblock(work)))
}

/// A task that is detached rather than cancelled when it is dropped.
struct Detaching<T>(Option<Task<T>>);

impl<T> Future for Detaching<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.0 {
            Some(task) => Pin::new(task).poll(cx),
            None => Poll::Pending,
        }
    }
}

impl<T> Drop for Detaching<T> {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.detach();
        }
    }
}
