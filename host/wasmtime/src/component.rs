//! The component: which bytes, and what they are.

use std::path::Path;

use crate::error::ComponentError;

/// A WebAssembly component of the world `halfopen:breaker/component`. Clones share the bytes.
#[derive(Clone, Debug)]
pub struct Component {}

impl Component {
    /// The component that comes with this crate.
    pub fn embedded() -> Component {
        todo!()
    }

    /// A component from a file.
    ///
    /// # Errors
    /// [`ComponentError`]: unreadable, not a component. What it imports and exports is checked when a host is built.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Component, ComponentError> {
        let _ = path;
        todo!()
    }

    /// A component from its bytes.
    ///
    /// # Errors
    /// As [`from_file`](Component::from_file).
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Component, ComponentError> {
        let _ = bytes;
        todo!()
    }

    /// The same component, if its SHA-256 is this one (64 hexadecimal digits).
    ///
    /// # Errors
    /// [`ComponentError::OtherHash`], [`ComponentError::InvalidPin`].
    pub fn pinned(self, sha256: &str) -> Result<Component, ComponentError> {
        let _ = sha256;
        todo!()
    }

    /// The SHA-256 of the bytes, in hexadecimal.
    pub fn sha256(&self) -> String {
        todo!()
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        todo!()
    }

    /// What it imports, sorted: `interface#function`, or the interface alone where it has no functions.
    ///
    /// # Errors
    /// [`ComponentError`]: it does not compile.
    pub fn imports(&self) -> Result<Vec<String>, ComponentError> {
        todo!()
    }

    /// What it exports, likewise.
    ///
    /// # Errors
    /// [`ComponentError`]: it does not compile.
    pub fn exports(&self) -> Result<Vec<String>, ComponentError> {
        todo!()
    }
}
