//! Work that blocks, on a thread of its own, for async code.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Runs `work` on a thread for blocking work.
pub(crate) fn spawn_blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Blocking<T> {
    Blocking(Some(blocking::unblock(work)))
}

/// The result of work that blocks. Dropped, the work goes on: a report that was begun is made.
pub(crate) struct Blocking<T>(Option<blocking::Task<T>>);

impl<T> Future for Blocking<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.0 {
            Some(task) => Pin::new(task).poll(cx),
            None => Poll::Pending,
        }
    }
}

impl<T> Drop for Blocking<T> {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.detach();
        }
    }
}
