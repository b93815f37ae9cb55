//! Work that blocks, on a thread of its own, for async code.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use blocking::Task;

/// Work that goes on also where nobody waits for it any more: a report that was begun is made.
pub(crate) struct Elsewhere<T>(Option<Task<T>>);

impl<T: Send + 'static> Elsewhere<T> {
    pub fn run(work: impl FnOnce() -> T + Send + 'static) -> Self {
        Elsewhere(Some(blocking::unblock(work)))
    }

    pub fn detach(self) {}
}

impl<T> Future for Elsewhere<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match &mut self.0 {
            Some(task) => Pin::new(task).poll(cx),
            None => Poll::Pending,
        }
    }
}

impl<T> Drop for Elsewhere<T> {
    fn drop(&mut self) {
        if let Some(task) = self.0.take() {
            task.detach();
        }
    }
}
