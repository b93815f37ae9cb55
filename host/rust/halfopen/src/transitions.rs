//! The stream of transitions of a namespace.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use futures_core::Stream;
use futures_timer::Delay;
use halfopen_contract::documents::Transition;
use halfopen_contract::store::{self, Cursor, Page, Store, StoreError};

use crate::breaker::parse_transition;

/// The pause between two reads of the store.
const EVERY: Duration = Duration::from_millis(50);

/// The number of transitions of a page.
const PAGE: usize = 256;

/// A transition and the dependency whose it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// The dependency.
    pub dependency: String,
    /// The transition.
    pub transition: Transition,
}

/// The transitions of a namespace as they happen, with those of other processes.
///
/// An iterator that blocks, and a `futures` stream; neither ever ends. The store is read 20 times a second. A reader that is
/// slower than the transitions gets those that are still in the history. After an error the position is kept, and the next
/// item goes on from there.
pub struct Transitions {
    store: Arc<dyn Store>,
    namespace: Arc<str>,
    cursor: Cursor,
    fetched: VecDeque<store::Observed>,
    /// The error of the first read; returned first.
    failed: Option<StoreError>,
    /// The read that the stream waits for.
    reading: Option<Reading>,
    /// Whether the stream pauses before its next read.
    pauses: bool,
}

type Reading = Pin<Box<dyn Future<Output = Result<Page, StoreError>> + Send + Sync>>;

impl Transitions {
    pub(crate) fn from_now(store: Arc<dyn Store>, namespace: Arc<str>) -> Self {
        let (cursor, failed) = match store.transitions(&namespace, Cursor::End, 0) {
            Ok(page) => (page.next, None),
            Err(error) => (Cursor::End, Some(error)),
        };
        Transitions { store, namespace, cursor, fetched: VecDeque::new(), failed, reading: None, pauses: false }
    }

    /// Waits for the next transition for at most the given time; none where none came.
    pub fn next_timeout(&mut self, limit: Duration) -> Result<Option<Observed>, StoreError> {
        // A limit beyond the end of time is none.
        let until = Instant::now().checked_add(limit);
        loop {
            if let Some(item) = self.next_fetched() {
                return item.map(Some);
            }
            let page = self.store.transitions(&self.namespace, self.cursor, PAGE)?;
            if self.keep(page) {
                continue;
            }
            let left = until.map_or(EVERY, |until| until.saturating_duration_since(Instant::now()));
            if left.is_zero() {
                return Ok(None);
            }
            std::thread::sleep(left.min(EVERY));
        }
    }

    /// A read of the next page, on a thread for blocking work.
    fn read(&self) -> Reading {
        let (store, namespace, cursor) = (self.store.clone(), self.namespace.clone(), self.cursor);
        let pause = self.pauses.then(|| Delay::new(EVERY));
        Box::pin(async move {
            if let Some(pause) = pause {
                pause.await;
            }
            blocking::unblock(move || store.transitions(&namespace, cursor, PAGE)).await
        })
    }

    /// The next item without a read of the store.
    fn next_fetched(&mut self) -> Option<Result<Observed, StoreError>> {
        if let Some(error) = self.failed.take() {
            return Some(Err(error));
        }
        let store::Observed { dependency, transition } = self.fetched.pop_front()?;
        let transition = parse_transition(&dependency, &transition);
        Some(transition.map(|transition| Observed { dependency, transition }))
    }

    /// Keeps a page, and returns whether it holds any transition.
    fn keep(&mut self, page: Page) -> bool {
        self.cursor = page.next;
        self.fetched.extend(page.transitions);
        !self.fetched.is_empty()
    }
}

impl Iterator for Transitions {
    type Item = Result<Observed, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_timeout(Duration::MAX).transpose()
    }
}

impl Stream for Transitions {
    type Item = Result<Observed, StoreError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(item) = self.next_fetched() {
                return Poll::Ready(Some(item));
            }
            let mut reading = self.reading.take().unwrap_or_else(|| self.read());
            let Poll::Ready(page) = reading.as_mut().poll(cx) else {
                self.reading = Some(reading);
                return Poll::Pending;
            };
            let kept = page.map(|page| self.keep(page));
            self.pauses = !matches!(kept, Ok(true));
            self.failed = kept.err();
        }
    }
}
