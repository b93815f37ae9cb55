use halfopen_contract::types::Receipt;

/// The place of the outcome of a call, once [`PermitGuard::report`](crate::PermitGuard::report) returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// In the store, or stale: the receipt says so.
    Now(Receipt),
    /// In this process's memory, among the successes that are flushed with the next failure, when the cached decision ends
    /// (after at most `fresh_ms`; a few ms later where no call comes), or when the last handle goes. Whether they count is
    /// decided then. A crash before that loses them.
    ///
    /// Also here: any outcome that the store, being unavailable, did not take. It is retried at least once a second while it
    /// can count, that is, for a probe until its lease has ended, for other calls for a minute. When the last handle goes it
    /// is tried once more.
    Later,
    /// Nowhere: an ignored call without a lease counts nowhere.
    Nothing,
}

impl Recorded {
    /// Whether the store has counted it. False for [`Later`](Recorded::Later).
    pub fn is_applied(&self) -> bool {
        matches!(self, Recorded::Now(receipt) if receipt.is_applied())
    }

    /// Whether it came too late and changed nothing, as far as is known.
    pub fn is_stale(&self) -> bool {
        matches!(self, Recorded::Now(receipt) if !receipt.is_applied())
    }

    /// The receipt, where there is one by now.
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
