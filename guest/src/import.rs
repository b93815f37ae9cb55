//! What the host supplies: the imports of world `component`.

use core::mem::MaybeUninit;

use crate::contract::{CommitOutcome, Reply, Snapshot, StorageError, Transition};
use crate::step::Ports;

/// The host.
pub struct Host;

#[link(wasm_import_module = "halfopen:breaker/storage@0.1.0")]
unsafe extern "C" {
    fn load(name: *const u8, name_len: usize, reply: *mut Reply<Snapshot, StorageError>);
    fn commit(
        name: *const u8,
        name_len: usize,
        based_on: u64,
        has_data: u32,
        data: *const u8,
        data_len: usize,
        transitions: *const Transition,
        transitions_len: usize,
        reply: *mut Reply<CommitOutcome, StorageError>,
    );
}

#[link(wasm_import_module = "halfopen:breaker/clock@0.1.0")]
unsafe extern "C" {
    safe fn now() -> u64;
}

#[link(wasm_import_module = "halfopen:breaker/entropy@0.1.0")]
unsafe extern "C" {
    safe fn next() -> u64;
}

impl Ports for Host {
    fn load(&mut self, dependency: &str) -> Result<Snapshot, StorageError> {
        let mut reply = MaybeUninit::uninit();
        // SAFETY: the host reads the name and writes a valid reply, which owns what it points to.
        unsafe {
            load(dependency.as_ptr(), dependency.len(), reply.as_mut_ptr());
            reply.assume_init().get()
        }
    }

    fn commit(
        &mut self,
        dependency: &str,
        based_on: u64,
        data: Option<&[u8]>,
        transitions: &[Transition],
    ) -> Result<CommitOutcome, StorageError> {
        let bytes = data.unwrap_or_default();
        let mut reply = MaybeUninit::uninit();
        // SAFETY: the host reads what it is given and writes a valid reply, which owns what it points to.
        unsafe {
            commit(
                dependency.as_ptr(),
                dependency.len(),
                based_on,
                data.is_some().into(),
                bytes.as_ptr(),
                bytes.len(),
                transitions.as_ptr(),
                transitions.len(),
                reply.as_mut_ptr(),
            );
            reply.assume_init().get()
        }
    }

    fn now(&mut self) -> u64 {
        now()
    }

    fn next(&mut self) -> u64 {
        next()
    }
}
