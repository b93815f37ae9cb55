//! The stream of transitions of a namespace.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use futures_timer::Delay;

use crate::elsewhere::Elsewhere;
use crate::error::StoreError;
use crate::host::{Host, Inner};
use crate::store::{Cursor, Observed, Page};

/// How often the store is looked at.
const EVERY: Duration = Duration::from_millis(50);

/// How many transitions are fetched at a time.
const PAGE: usize = 256;

/// The transitions of a namespace as they happen, those of other processes included.
///
/// An iterator that blocks, and a `futures` stream; neither ever ends. The store is looked at 20 times a second. Who reads
/// more slowly than transitions come sees those that are still in the history. After an error the position is kept, and the
/// next item goes on from there.
pub struct Transitions {
    inner: Arc<Inner>,
    cursor: Cursor,
    fetched: VecDeque<Observed>,
    /// Why it could not be begun; told first.
    failed: Option<StoreError>,
    waiting: Waiting,
}

/// What the stream waits for.
enum Waiting {
    Nothing,
    Page(Elsewhere<Result<Page, StoreError>>),
    Time(Delay),
}

impl Transitions {
    pub(crate) fn from_now(host: Host) -> Self {
        let inner = host.inner;
        let (cursor, failed) = match inner.store.transitions(&inner.namespace, Cursor::End, 0) {
            Ok(page) => (page.next, None),
            Err(error) => (Cursor::End, Some(error)),
        };
        Transitions { inner, cursor, fetched: VecDeque::new(), failed, waiting: Waiting::Nothing }
    }

    /// Waits for the next transition, for so long at most; none where none came.
    ///
    /// # Errors
    /// Those of the store.
    pub fn next_timeout(&mut self, limit: Duration) -> Result<Option<Observed>, StoreError> {
        // A limit beyond the end of time is none.
        let until = Instant::now().checked_add(limit);
        loop {
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if let Some(observed) = self.fetched.pop_front() {
                return Ok(Some(observed));
            }
            let page = self.inner.store.transitions(&self.inner.namespace, self.cursor, PAGE)?;
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

    /// Whether there was anything in the page.
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

impl futures_core::Stream for Transitions {
    type Item = Result<Observed, StoreError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(error) = self.failed.take() {
                return Poll::Ready(Some(Err(error)));
            }
            if let Some(observed) = self.fetched.pop_front() {
                return Poll::Ready(Some(Ok(observed)));
            }
            self.waiting = match &mut self.waiting {
                Waiting::Nothing => {
                    let (inner, cursor) = (self.inner.clone(), self.cursor);
                    Waiting::Page(Elsewhere::run(move || inner.store.transitions(&inner.namespace, cursor, PAGE)))
                }
                Waiting::Page(page) => match ready!(Pin::new(page).poll(cx)) {
                    Ok(page) => match self.keep(page) {
                        true => Waiting::Nothing,
                        false => Waiting::Time(Delay::new(EVERY)),
                    },
                    Err(error) => {
                        self.failed = Some(error);
                        Waiting::Time(Delay::new(EVERY))
                    }
                },
                Waiting::Time(delay) => {
                    ready!(Pin::new(delay).poll(cx));
                    Waiting::Nothing
                }
            };
        }
    }
}
