use std::path::PathBuf;

use halfopen_contract::types::PolicyFault;
use halfopen_contract::{EngineError, list_faults};

/// Why a file or its bytes cannot serve as the component.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentError {
    /// The file cannot be read.
    #[error("cannot read the component {}: {why}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// The bytes are no WebAssembly component.
    #[error("{place} is not a WebAssembly component: {why}")]
    NotAComponent {
        /// The file, or "the component" for bytes.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// The bytes are a core module, from which a component has yet to be made.
    #[error("{place} is a core WebAssembly module, not a component; make one with `wasm-tools component new`")]
    CoreModule {
        /// The file, or "the component" for bytes.
        place: String,
    },
    /// It imports functions that are not in its world.
    #[error("{place} imports {}; a component may import the functions of storage, clock and entropy only", imports.join(", "))]
    OtherImports {
        /// The file, or "the component" for bytes.
        place: String,
        /// Those imports that are not in the world.
        imports: Vec<String>,
    },
    /// It is of another world, or of another version of it.
    #[error("{place} is not of the world {wanted}: {why}")]
    OtherWorld {
        /// The file, or "the component" for bytes.
        place: String,
        /// The world that this host runs.
        wanted: String,
        /// What differs.
        why: String,
    },
    /// Its SHA-256 is not the pinned one.
    #[error("{place} has SHA-256 {found}, and {wanted} is pinned; nothing of it was run")]
    OtherHash {
        /// The file, or "the component" for bytes.
        place: String,
        /// The pinned SHA-256, in hexadecimal.
        wanted: String,
        /// The SHA-256 of the bytes, in hexadecimal.
        found: String,
    },
    /// The pin itself is no SHA-256.
    #[error("`{pin}` is no SHA-256; give 64 hexadecimal digits")]
    InvalidPin {
        /// The pin as given.
        pin: String,
    },
    /// The WebAssembly engine does not run on this machine.
    #[error("the WebAssembly engine does not run here: {why}")]
    Engine {
        /// Why.
        why: String,
    },
}

/// Why the component cannot be prepared for a platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// The wasmtime engine does not compile it.
    #[error(
        "the platform's engine does not take the component: {why}; its Config needs the component model, the WebAssembly \
         features that are on by default, room for it in a pooling allocator, and a compiler unless the code is compiled \
         already"
    )]
    Engine {
        /// What wasmtime says.
        why: String,
    },
    /// It is not of the world that a handle is for.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// The linker does not supply its imports.
    #[error(
        "the linker does not give the component what it imports: {why}; call `halfopen_component::add_to_linker` first"
    )]
    Linker {
        /// What does not fit.
        why: String,
    },
}

/// Why no instance could be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum InstantiateError {
    /// The wasmtime store takes none: a limit of the platform, or async imports in a call that is not async.
    #[error("the wasmtime store takes no instance of the component: {why}")]
    Store {
        /// What wasmtime says.
        why: String,
    },
    /// The component failed while it was set up. The wasmtime store cannot be entered any more; drop it.
    #[error("the component could not be set up: {0}")]
    Setup(EngineError),
    /// The default policy has faults: all of them.
    #[error("the default policy is invalid: {}", list_faults(.0))]
    InvalidPolicy(Vec<PolicyFault>),
}
