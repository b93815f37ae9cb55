use std::time::Duration;

use halfopen_contract::EngineError;
use wasmtime::ResourceLimiter;

use crate::instance::{Imports, ImportsView};

/// The bounds of the component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The time that one exported call may take, at least 1 ms. It takes microseconds; the default is 2 seconds, so that a
    /// machine under load does not cut it off. Rounded up to the tick of 10 ms.
    pub call: Duration,
    /// The bytes of memory that an instance may have. Default 16 MiB.
    pub memory: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { call: Duration::from_secs(2), memory: 16 << 20 }
    }
}

/// The data of a wasmtime store: the imports of its instance, and the instance's memory, counted.
pub(super) struct LimitedStore {
    imports: Imports,
    limits: Limits,
    /// The bytes of all memories of the instance.
    memory: usize,
    /// Whether memory was refused in the present call.
    memory_refused: bool,
}

impl LimitedStore {
    pub fn new(imports: Imports, limits: Limits) -> Self {
        LimitedStore { imports, limits, memory: 0, memory_refused: false }
    }

    /// Begins a call.
    pub fn begin(&mut self) {
        self.memory_refused = false;
    }

    /// The error of a failed call, with the limit that it has reached.
    pub fn explain(&self, error: EngineError) -> EngineError {
        match error {
            _ if self.memory_refused => EngineError::OutOfMemory { limit: self.limits.memory },
            EngineError::Stopped { .. } => EngineError::TimedOut { limit: self.limits.call },
            error => error,
        }
    }
}

impl ImportsView for LimitedStore {
    fn imports(&mut self) -> &mut Imports {
        &mut self.imports
    }
}

impl ResourceLimiter for LimitedStore {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        let memory = self.memory.saturating_add(desired.saturating_sub(current));
        let is_allowed = memory <= self.limits.memory;
        if is_allowed {
            self.memory = memory;
        }
        self.memory_refused |= !is_allowed;
        Ok(is_allowed)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= 10_000)
    }

    /// Core instances: a component of ours has a few.
    fn instances(&self) -> usize {
        100
    }

    fn tables(&self) -> usize {
        100
    }
}

/// Whether no more files can be opened; if so, what to do. wasmtime reports that an instance could not be made; the system,
/// asked again, reports why.
#[cfg(unix)]
pub(super) fn fd_limit_reached() -> Option<&'static str> {
    use rustix::io::Errno;
    let error = std::fs::File::open("/dev/null").err()?;
    match Errno::from_io_error(&error)? {
        Errno::MFILE => Some("this process may open no more files; raise its limit (ulimit -n)"),
        Errno::NFILE => Some("the system can open no more files; close some"),
        _ => None,
    }
}

/// Other systems are not asked.
#[cfg(not(unix))]
pub(super) fn fd_limit_reached() -> Option<&'static str> {
    None
}
