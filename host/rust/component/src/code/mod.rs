//! Compiled code, cached in a file for the next process.

mod cache;
mod private_files;

use wasmtime::component::Component as Code;

use crate::error::ComponentError;
use crate::runtime::runtime;

/// Returns the code of a component, compiled for this process's own wasmtime engine by this process or an earlier one.
pub(crate) fn compile(place: &str, bytes: &[u8], sha256: &[u8; 32]) -> Result<Code, ComponentError> {
    let engine = &runtime()?.engine;
    if let Some(code) = cache::load(engine, sha256) {
        return Ok(code);
    }
    let not_a_component = |error| ComponentError::NotAComponent { place: place.to_owned(), why: format!("{error:#}") };
    let code = Code::new(engine, bytes).map_err(not_a_component)?;
    cache::save(engine, sha256, &code);
    Ok(code)
}
