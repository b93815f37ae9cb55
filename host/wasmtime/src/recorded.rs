//! What becomes of the outcome of a call.

use crate::wire::Receipt;

/// Where the outcome of a call is, once [`PermitGuard::report`](crate::PermitGuard::report) returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// In the store, or stale: the component's receipt says.
    Now(Receipt),
    /// In this process's memory, among the successes that are handed over with the next failure, when the look that
    /// admitted them ends (`fresh_ms` at most; a few ms later where no call comes), or when the last handle goes. Whether
    /// it counts, the component says then. A crash before that loses it.
    ///
    /// Likewise any outcome that the store, being unavailable, did not take: it is reported again and again, at most a
    /// second apart, while it can count. That is, for a probe until its lease has ended; for other calls for a minute. When
    /// the last handle goes it is tried once more.
    Later,
    /// Nowhere: an ignored call without a lease counts nowhere.
    Nothing,
}

impl Recorded {
    /// Whether the store has counted it. False for what is counted [`Later`](Recorded::Later).
    pub fn is_applied(&self) -> bool {
        matches!(self, Recorded::Now(receipt) if receipt.is_applied())
    }

    /// Whether it came too late and changed nothing, as far as is known.
    pub fn is_stale(&self) -> bool {
        matches!(self, Recorded::Now(receipt) if !receipt.is_applied())
    }

    /// The component's receipt, where there is one by now.
    pub fn receipt(&self) -> Option<&Receipt> {
        match self {
            Recorded::Now(receipt) => Some(receipt),
            Recorded::Later | Recorded::Nothing => None,
        }
    }
}

impl From<Receipt> for Recorded {
    fn from(receipt: Receipt) -> Self {
        Recorded::Now(receipt)
    }
}
