/// Why a store failed.
///
/// `place` is the store as the user named it; `why` gives the reason and, where there is one, the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot be reached, is locked, or is full. A later retry may help.
    #[error("the store {place} is not available: {why}")]
    Unavailable {
        /// The store.
        place: String,
        /// The reason, and the remedy.
        why: String,
    },
    /// The store refuses: it is read-only, this user lacks a right, or the place is not one for a store.
    #[error("cannot use the store {place}: {why}")]
    Denied {
        /// The store.
        place: String,
        /// The reason, and the remedy.
        why: String,
    },
    /// The store, or a record in it, is damaged.
    #[error("the store {place} is damaged: {why}")]
    Corrupt {
        /// The store, or the record in it.
        place: String,
        /// The reason, and the remedy.
        why: String,
    },
    /// A later release wrote the store. It is left alone.
    #[error(
        "the store {place} has schema {found}, and this release knows up to {known}; update this program, or give \
         another store"
    )]
    Newer {
        /// The store.
        place: String,
        /// The schema of the store.
        found: u64,
        /// The latest schema that this release knows.
        known: u64,
    },
    /// The outcome of the last write is unknown: the answer was lost, and reading back was not possible in time.
    #[error("the store {place} may or may not have done the last write: {why}")]
    InDoubt {
        /// The store.
        place: String,
        /// The reason, and the remedy.
        why: String,
    },
    /// Another failure.
    #[error("the store {place} failed: {why}")]
    Other {
        /// The store.
        place: String,
        /// The reason, and the remedy.
        why: String,
    },
}

impl StoreError {
    /// Whether the store is out of reach, so that a retry may succeed.
    pub fn is_outage(&self) -> bool {
        matches!(self, StoreError::Unavailable { .. } | StoreError::InDoubt { .. })
    }
}

/// A store as the user named it: makes its errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place(pub String);

impl Place {
    /// A [`StoreError::Unavailable`] of this store.
    pub fn unavailable(&self, why: impl Into<String>) -> StoreError {
        StoreError::Unavailable { place: self.0.clone(), why: why.into() }
    }

    /// A [`StoreError::Denied`] of this store.
    pub fn denied(&self, why: impl Into<String>) -> StoreError {
        StoreError::Denied { place: self.0.clone(), why: why.into() }
    }

    /// A [`StoreError::Corrupt`] of this store.
    pub fn corrupt(&self, why: impl Into<String>) -> StoreError {
        StoreError::Corrupt { place: self.0.clone(), why: why.into() }
    }

    /// A [`StoreError::Newer`] of this store.
    pub fn newer(&self, found: u64, known: u64) -> StoreError {
        StoreError::Newer { place: self.0.clone(), found, known }
    }

    /// A [`StoreError::InDoubt`] of this store.
    pub fn in_doubt(&self, why: impl Into<String>) -> StoreError {
        StoreError::InDoubt { place: self.0.clone(), why: why.into() }
    }

    /// A [`StoreError::Other`] of this store.
    pub fn other(&self, why: impl Into<String>) -> StoreError {
        StoreError::Other { place: self.0.clone(), why: why.into() }
    }
}
