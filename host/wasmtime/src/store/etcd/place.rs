//! The store as the user named it, and its errors.

use super::super::{Key, StoreError};
use super::options::EtcdOptions;
use super::value::{KNOWN, Unreadable};

/// The store's name: its address without user and parameters.
#[derive(Clone, Debug)]
pub(super) struct Place(String);

impl Place {
    pub fn new(options: &EtcdOptions) -> Place {
        let scheme = if options.tls.is_some() { "etcds" } else { "etcd" };
        Place(format!("{scheme}://{}/{}", options.endpoints.join(","), options.prefix))
    }

    /// What to look at where connections break off.
    pub fn if_it_breaks_off(&self) -> &'static str {
        if self.0.starts_with("etcds:") {
            "if it asks for certificates, look at cert and key"
        } else {
            "if it speaks TLS, write `etcds://`"
        }
    }

    pub fn unavailable(&self, why: impl Into<String>) -> StoreError {
        StoreError::Unavailable { place: self.0.clone(), why: why.into() }
    }

    pub fn denied(&self, why: impl Into<String>) -> StoreError {
        StoreError::Denied { place: self.0.clone(), why: why.into() }
    }

    pub fn corrupt(&self, why: impl Into<String>) -> StoreError {
        StoreError::Corrupt { place: self.0.clone(), why: why.into() }
    }

    pub fn in_doubt(&self, why: impl Into<String>) -> StoreError {
        StoreError::InDoubt { place: self.0.clone(), why: why.into() }
    }

    pub fn other(&self, why: impl Into<String>) -> StoreError {
        StoreError::Other { place: self.0.clone(), why: why.into() }
    }

    /// A value that cannot be read, of this record.
    pub fn unreadable(&self, key: Key<'_>, fault: Unreadable) -> StoreError {
        self.unreadable_in(&format!("the record of {:?} in the namespace {:?}", key.dependency, key.namespace), fault)
    }

    /// A value that cannot be read.
    pub fn unreadable_in(&self, what: &str, fault: Unreadable) -> StoreError {
        match fault {
            Unreadable::Newer(found) => StoreError::Newer { place: self.0.clone(), found, known: KNOWN },
            Unreadable::Damaged => self.corrupt(format!("{what} holds what this program never wrote there")),
        }
    }
}
