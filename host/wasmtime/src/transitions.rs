//! The stream of transitions of a namespace.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::error::StoreError;
use crate::host::Host;
use crate::store::Observed;

/// The transitions of a namespace as they happen, those of other processes included.
///
/// An iterator that blocks, and a `futures` stream. The store is looked at a few times a second. Who reads more slowly
/// than transitions come sees those that are still in the history.
pub struct Transitions {
    host: Host,
}

impl Transitions {
    pub(crate) fn from_now(host: Host) -> Self {
        Transitions { host }
    }

    /// Waits for the next transition, for so long at most.
    ///
    /// # Errors
    /// Those of the store. The position is kept, so that the next call goes on.
    pub fn next_timeout(&mut self, limit: Duration) -> Result<Option<Observed>, StoreError> {
        let _ = (limit, &self.host);
        todo!()
    }
}

impl Iterator for Transitions {
    type Item = Result<Observed, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        todo!()
    }
}

impl futures_core::Stream for Transitions {
    type Item = Result<Observed, StoreError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let _ = cx;
        todo!()
    }
}
