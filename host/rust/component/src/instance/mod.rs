//! An instance of the component in a wasmtime store, whether that store is this crate's own or a platform's: the only
//! embedding of the component in wasmtime.

mod evaluate;
mod exports;
mod imports;
mod link;
mod write_through;

pub(crate) use evaluate::Instance;
pub(crate) use imports::{Imports, ImportsView, MAX_WRITE};
pub(crate) use link::link;
pub(crate) use write_through::WriteThrough;
