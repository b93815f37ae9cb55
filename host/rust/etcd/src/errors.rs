//! The errors of the store, with its name.

use halfopen_contract::store::StoreError;

/// Makes the errors of one store.
#[derive(Clone, Debug)]
pub(crate) struct Errors {
    place: String,
}

impl Errors {
    pub fn new(place: String) -> Errors {
        Errors { place }
    }

    /// Whether the store is reached with TLS.
    pub fn is_secure(&self) -> bool {
        self.place.starts_with("etcds:")
    }

    pub fn unavailable(&self, why: impl Into<String>) -> StoreError {
        StoreError::Unavailable { place: self.place.clone(), why: why.into() }
    }

    pub fn denied(&self, why: impl Into<String>) -> StoreError {
        StoreError::Denied { place: self.place.clone(), why: why.into() }
    }

    pub fn corrupt(&self, why: impl Into<String>) -> StoreError {
        StoreError::Corrupt { place: self.place.clone(), why: why.into() }
    }

    pub fn newer(&self, found: u64, known: u64) -> StoreError {
        StoreError::Newer { place: self.place.clone(), found, known }
    }

    /// The error of a commit that may or may not be done, because of `error`.
    pub fn in_doubt(&self, error: &StoreError) -> StoreError {
        let why = match error {
            StoreError::Unavailable { why, .. } | StoreError::Denied { why, .. } | StoreError::Other { why, .. } => {
                why.clone()
            }
            other => other.to_string(),
        };
        StoreError::InDoubt { place: self.place.clone(), why }
    }

    pub fn other(&self, why: impl Into<String>) -> StoreError {
        StoreError::Other { place: self.place.clone(), why: why.into() }
    }
}
