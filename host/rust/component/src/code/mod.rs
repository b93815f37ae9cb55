//! Compiled code, cached in a file for the next process.

#[cfg(unix)]
mod cache;
#[cfg(unix)]
mod private_files;

/// Nothing is cached: this crate cannot tell who may write to a folder of this system.
#[cfg(not(unix))]
mod cache {
    use wasmtime::Engine;
    use wasmtime::component::Component as Code;

    pub fn load(_engine: &Engine, _sha256: &str) -> Option<Code> {
        None
    }

    pub fn save(_engine: &Engine, _sha256: &str, _code: &Code) {}
}

use wasmtime::component::Component as Code;

use crate::error::ComponentError;
use crate::runtime::engine;

/// Returns the code of a component, compiled for this process's own wasmtime engine by this process or an earlier one.
pub(crate) fn compile(place: &str, bytes: &[u8], sha256: &str) -> Result<Code, ComponentError> {
    let engine = engine()?;
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
