/// The removed records of a namespace whose versions [`compact`](super::Store::compact) keeps, at most: those with the
/// highest versions.
pub const REMOVED: usize = 1_000;

/// The namespace and the dependency of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key<'a> {
    /// The namespace. Any text.
    pub namespace: &'a str,
    /// The dependency. Any text: the engine checks names, a store does not.
    pub dependency: &'a str,
}

/// A record at a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The version. That of a missing record is the highest that the record ever had, or higher; 0 in a namespace that was
    /// never written.
    pub version: u64,
    /// The bytes; none where the record is missing.
    pub data: Option<Vec<u8>>,
    /// The store's own clock at the load, in ms since the Unix epoch; none where the store has no clock.
    pub at: Option<u64>,
}

/// A compare-and-set.
#[derive(Clone, Copy, Debug)]
pub struct Write<'a> {
    /// The record.
    pub key: Key<'a>,
    /// The version that the record must have.
    pub based_on: u64,
    /// The version that the record gets; above `based_on`.
    pub version: u64,
    /// The new bytes; none removes the record and its history, and keeps the version.
    pub data: Option<&'a [u8]>,
    /// Transitions that are added to the record's history, in order: JSON texts that a store keeps unread. Those of a
    /// removal are in no history; the stream of the namespace shows the newest [`FORGOTTEN`](super::FORGOTTEN) of them.
    pub transitions: &'a [String],
    /// The number of transitions of the record to keep, at most: the newest.
    pub history: usize,
}

/// The outcome of a [`Write`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    /// The write is done.
    Committed,
    /// Another writer was first: the record as it is now. The write changed nothing.
    Stale(Snapshot),
}
