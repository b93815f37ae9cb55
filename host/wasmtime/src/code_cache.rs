//! Compiled code in files, so that a new process starts in a millisecond.
//!
//! Compiled code is run as it is, so a file is only trusted in a folder that belongs to this user and that nobody else can
//! write. Whatever stands in the way, the code is compiled anew: the cache is never needed.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;

use etcetera::BaseStrategy;
use wasmtime::Engine;
use wasmtime::component::Component as Code;

use crate::component::hex;
use crate::private_files;

/// So many files are kept: some releases of this crate, and some components of the user's own.
const MOST: usize = 16;

pub(crate) fn load(engine: &Engine, sha256: &[u8; 32]) -> Option<Code> {
    let read = private_files::read(&folder()?, &name(engine, sha256), usize::MAX);
    let bytes = read.map_err(|error| tracing::debug!(%error, "no compiled code to use")).ok()?;
    // SAFETY: the bytes were written by `save`, for this very engine and component, into a file that nobody but this
    // user could write, and were checked to be whole.
    match unsafe { Code::deserialize(engine, &bytes) } {
        Ok(code) => Some(code),
        Err(error) => {
            tracing::debug!(%error, "compiled code is not used");
            None
        }
    }
}

pub(crate) fn save(engine: &Engine, sha256: &[u8; 32], code: &Code) {
    let Some(folder) = folder() else { return };
    match code.serialize() {
        Ok(bytes) => {
            if let Err(error) = private_files::write(&folder, &name(engine, sha256), &bytes, MOST) {
                tracing::debug!(%error, "compiled code is not kept");
            }
        }
        Err(error) => tracing::debug!(%error, "compiled code is not kept"),
    }
}

fn folder() -> Option<PathBuf> {
    Some(etcetera::choose_base_strategy().ok()?.cache_dir().join("halfopen"))
}

fn name(engine: &Engine, sha256: &[u8; 32]) -> String {
    let mut hasher = DefaultHasher::new();
    engine.precompile_compatibility_hash().hash(&mut hasher);
    format!("{}-{:016x}.cwasm", hex(sha256), hasher.finish())
}
