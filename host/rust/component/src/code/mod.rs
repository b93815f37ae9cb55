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
    let code = Code::new(engine, bytes).map_err(|error| {
        let why = format!("{error:#}");
        match refused_by_the_system(&error) {
            Some(remedy) => ComponentError::Engine { why: format!("{why}; {remedy}") },
            None => ComponentError::NotAComponent { place: place.to_owned(), why },
        }
    })?;
    cache::save(engine, sha256, &code);
    Ok(code)
}

/// What to do where the system refuses memory for the code.
#[cfg(unix)]
fn refused_by_the_system(error: &wasmtime::Error) -> Option<&'static str> {
    use rustix::io::Errno;
    match *error.root_cause().downcast_ref()? {
        Errno::ACCESS | Errno::PERM => {
            Some("allow executable memory (systemd: MemoryDenyWriteExecute=no, SELinux: execmem)")
        }
        _ => Some("allow more memory (ulimit -v)"),
    }
}

/// Other systems give no reason.
#[cfg(not(unix))]
fn refused_by_the_system(_error: &wasmtime::Error) -> Option<&'static str> {
    None
}
