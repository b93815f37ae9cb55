/// Why a store failed.
///
/// `place` is the store, as the user named it; `why` says what is wrong and, where something can be done, what.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// It cannot be reached, is locked, or is full. Trying again later may help.
    #[error("the store {place} is not available: {why}")]
    Unavailable {
        /// The store.
        place: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// It refuses: read-only, without the rights, or not a place for a store.
    #[error("the store {place} refuses: {why}")]
    Denied {
        /// The store.
        place: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// What it holds is damaged.
    #[error("the store {place} is damaged: {why}")]
    Corrupt {
        /// The store, or the record in it.
        place: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// It was written by a later release. It is left alone.
    #[error(
        "the store {place} has schema {found}, and this release knows up to {known}; update this program, or give \
         another store"
    )]
    Newer {
        /// The store.
        place: String,
        /// The schema it has.
        found: u64,
        /// The latest schema that this release knows.
        known: u64,
    },
    /// Whether it did the last write is not known: the answer was lost, and it could not be asked again in time.
    #[error("the store {place} may or may not have done the last write: {why}")]
    InDoubt {
        /// The store.
        place: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// Something else.
    #[error("the store {place} failed: {why}")]
    Other {
        /// The store.
        place: String,
        /// What is wrong, and what to do.
        why: String,
    },
}

impl StoreError {
    /// Whether the store is out of reach, so that a retry may succeed.
    pub fn is_outage(&self) -> bool {
        matches!(self, StoreError::Unavailable { .. } | StoreError::InDoubt { .. })
    }
}
