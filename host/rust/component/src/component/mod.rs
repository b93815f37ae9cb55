//! The bytes of a component, and what they are.

mod file;
pub(crate) mod world;

use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use wasmtime::component::Component as Code;

use crate::code;
use crate::error::ComponentError;

static EMBEDDED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/halfopen.wasm"));

/// A WebAssembly component of the world `halfopen:breaker/component`. Clones share the bytes and the compiled code.
#[derive(Clone)]
pub struct Component {
    inner: Arc<Inner>,
}

struct Inner {
    place: String,
    bytes: Cow<'static, [u8]>,
    /// In hexadecimal.
    sha256: String,
    code: OnceLock<Result<Code, ComponentError>>,
}

impl Component {
    /// The component that comes with this crate.
    pub fn embedded() -> Component {
        static COMPONENT: OnceLock<Component> = OnceLock::new();
        COMPONENT.get_or_init(|| Component::new("the embedded component".to_owned(), EMBEDDED.into())).clone()
    }

    /// A component from a file.
    ///
    /// # Errors
    /// [`ComponentError`]: unreadable, a core module, no component. Its imports and exports are checked when an engine is
    /// made from it.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Component, ComponentError> {
        let path = path.as_ref();
        let bytes = file::read(path)
            .map_err(|error| ComponentError::Unreadable { path: path.to_owned(), why: error.to_string() })?;
        Component::checked(path.display().to_string(), bytes)
    }

    /// A component from its bytes.
    ///
    /// # Errors
    /// As [`from_file`](Component::from_file).
    pub fn from_bytes(bytes: impl Into<Vec<u8>>) -> Result<Component, ComponentError> {
        Component::checked("the component".to_owned(), bytes.into())
    }

    /// The same component, if its SHA-256 is this one (64 hexadecimal digits).
    ///
    /// # Errors
    /// [`ComponentError::OtherHash`], [`ComponentError::InvalidPin`].
    pub fn pinned(self, sha256: &str) -> Result<Component, ComponentError> {
        if sha256.len() != 64 || !sha256.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(ComponentError::InvalidPin { pin: sha256.chars().take(80).collect() });
        }
        if sha256.eq_ignore_ascii_case(&self.inner.sha256) {
            return Ok(self);
        }
        let (wanted, found) = (sha256.to_ascii_lowercase(), self.sha256());
        Err(ComponentError::OtherHash { place: self.inner.place.clone(), wanted, found })
    }

    /// The SHA-256 of the bytes, in hexadecimal.
    pub fn sha256(&self) -> String {
        self.inner.sha256.clone()
    }

    /// The name of the component in messages: its file, for one.
    pub fn place(&self) -> &str {
        &self.inner.place
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.inner.bytes
    }

    /// Its imports, sorted: `interface#function`, or the interface alone where it has no functions.
    ///
    /// # Errors
    /// [`ComponentError`]: it does not compile.
    pub fn imports(&self) -> Result<Vec<String>, ComponentError> {
        self.code().map(|code| world::imports(&code))
    }

    /// Its exports, in the same form.
    ///
    /// # Errors
    /// [`ComponentError`]: it does not compile.
    pub fn exports(&self) -> Result<Vec<String>, ComponentError> {
        self.code().map(|code| world::exports(&code))
    }

    /// The compiled code, for this process's own wasmtime engine.
    pub(crate) fn code(&self) -> Result<Code, ComponentError> {
        let inner = &self.inner;
        inner.code.get_or_init(|| code::compile(&inner.place, &inner.bytes, &inner.sha256)).clone()
    }

    fn new(place: String, bytes: Cow<'static, [u8]>) -> Component {
        let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        Component { inner: Arc::new(Inner { place, bytes, sha256, code: OnceLock::new() }) }
    }

    fn checked(place: String, bytes: Vec<u8>) -> Result<Component, ComponentError> {
        match bytes.get(..8) {
            Some([0, b'a', b's', b'm', _, _, 1, 0]) => Ok(Component::new(place, bytes.into())),
            Some([0, b'a', b's', b'm', 1, 0, 0, 0]) => Err(ComponentError::CoreModule { place }),
            _ => Err(ComponentError::NotAComponent { place, why: "it does not begin as one".to_owned() }),
        }
    }
}

impl Default for Component {
    /// [`Component::embedded`].
    fn default() -> Self {
        Component::embedded()
    }
}

impl fmt::Debug for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component").field("place", &self.inner.place).field("sha256", &self.sha256()).finish()
    }
}

#[cfg(test)]
mod tests;
