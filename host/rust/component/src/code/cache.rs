//! Compiled code in files: a new process starts in a millisecond.
//!
//! Compiled code is run as it is, so a file is only trusted in a folder that belongs to this user and that no other user
//! can write. Where the cache cannot be used, the code is compiled again.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

use etcetera::BaseStrategy;
use wasmtime::Engine;
use wasmtime::component::Component as Code;

use super::private_files;

/// The files that are kept, at most: some releases of this crate, and some components of the user's own.
const MOST: usize = 16;

pub(crate) fn load(engine: &Engine, sha256: &str) -> Option<Code> {
    let read = private_files::read(&folder()?, &name(engine, sha256));
    let bytes = read.map_err(|error| tracing::debug!(%error, "no cached code is used")).ok()?;
    // SAFETY: the bytes were written by `save`, for this very engine and component, into a file that only this user could
    // write, and were checked to be whole.
    match unsafe { Code::deserialize(engine, &bytes) } {
        Ok(code) => Some(code),
        Err(error) => {
            tracing::debug!(%error, "cached code is not used");
            None
        }
    }
}

pub(crate) fn save(engine: &Engine, sha256: &str, code: &Code) {
    let Some(folder) = folder() else { return };
    match code.serialize() {
        Ok(bytes) => {
            if let Err(error) = private_files::write(&folder, &name(engine, sha256), &bytes, MOST) {
                tracing::debug!(%error, "compiled code is not cached");
            }
        }
        Err(error) => tracing::debug!(%error, "compiled code is not cached"),
    }
}

fn folder() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("halfopen"))
}

fn name(engine: &Engine, sha256: &str) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{sha256}-{:016x}.cwasm", hasher.finish())
}
