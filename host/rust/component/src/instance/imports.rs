//! The state behind the component's imports.

use std::sync::Arc;

use halfopen_contract::engine::{Input, ProposedWrite};
use halfopen_contract::entropy::Entropy;
use halfopen_contract::store::{CommitOutcome, Snapshot};
use halfopen_contract::time::Clock;
use halfopen_contract::types::StorageError;
use wasmtime::component::{ComponentType, Lower};

use super::write_through::{Commit, WriteThrough, denied};

/// The bytes that a call may commit, at most, where no limit on its memory is known.
pub(crate) const MAX_WRITE: usize = 16 << 20;

/// The data of a wasmtime store with an instance in it.
pub(crate) trait ImportsView: Send + 'static {
    fn imports(&mut self) -> &mut Imports;
}

/// The state behind the imports of an instance: the record of the present operation, and what it has written.
pub(crate) struct Imports {
    clock: Arc<dyn Clock>,
    entropy: Arc<Entropy>,
    /// The dependency of the operation that is evaluated; none between operations.
    pub(super) dependency: Option<Arc<str>>,
    snapshot: Snapshot,
    /// The instant of the operation; or the store's own time at the last load of a write-through call.
    now: Option<u64>,
    write: Option<ProposedWrite>,
    written: usize,
    max_write: usize,
    /// Serves the calls outside an operation; none where they are refused.
    pub(super) write_through: Option<WriteThrough>,
}

impl Imports {
    /// Imports that serve operations, and with `write_through` the calls outside of them.
    pub fn new(
        clock: Arc<dyn Clock>,
        entropy: Arc<Entropy>,
        max_write: usize,
        write_through: Option<WriteThrough>,
    ) -> Self {
        Imports {
            clock,
            entropy,
            dependency: None,
            snapshot: Snapshot::default(),
            now: None,
            write: None,
            written: 0,
            max_write,
            write_through,
        }
    }

    /// Begins an operation: its commits are held until its [end](Imports::end).
    pub fn begin(&mut self, input: &Input<'_>) {
        self.dependency = Some(input.request.dependency.clone());
        self.snapshot.version = input.snapshot.version;
        self.snapshot.data.clone_from(&input.snapshot.data);
        self.now = Some(input.now);
        if !Arc::ptr_eq(&self.entropy, input.entropy) {
            self.entropy = input.entropy.clone();
        }
        self.write = None;
        self.written = 0;
    }

    /// Ends the operation, and returns what it committed.
    pub fn end(&mut self) -> Option<ProposedWrite> {
        self.dependency = None;
        self.now = None;
        self.write.take()
    }

    /// The instant.
    pub(super) fn now(&self) -> u64 {
        self.now.unwrap_or_else(|| self.clock.now())
    }

    /// A random number.
    pub(super) fn random(&self) -> u64 {
        self.entropy.next()
    }

    /// The version of the record, with what the operation has committed.
    fn version(&self) -> u64 {
        self.snapshot.version.saturating_add(self.write.as_ref().map_or(0, |write| write.commits))
    }

    pub(super) fn load(&self) -> Loaded {
        let data = self.write.as_ref().map_or(&self.snapshot.data, |write| &write.data);
        Loaded { version: self.version(), data: data.clone() }
    }

    pub(super) fn commit(&mut self, commit: Commit) -> Result<Outcome, StorageError> {
        if commit.based_on != self.version() {
            return Ok(Outcome::Stale(self.load()));
        }
        if self.write.as_ref().is_some_and(|write| write.data.is_none()) {
            // A removal takes the history with it; one write cannot remove and have a history of its own.
            return Err(denied("a call that has removed its record writes no more"));
        }
        self.written += commit.size();
        self.check_size(self.written)?;
        let write = self.write.get_or_insert_default();
        write.commits += 1;
        write.data = commit.data;
        write.transitions.extend(commit.transitions);
        Ok(Outcome::Committed(self.version()))
    }

    pub(super) fn check_size(&self, written: usize) -> Result<(), StorageError> {
        match written <= self.max_write {
            true => Ok(()),
            false => Err(denied("a call writes no more than its instance may have of memory")),
        }
    }

    /// Takes over the time of the store that a write-through call has read.
    pub(super) fn loaded(&mut self, snapshot: Snapshot) -> Loaded {
        self.now = snapshot.at;
        Loaded { version: snapshot.version, data: snapshot.data }
    }

    /// The outcome of a write-through commit.
    pub(super) fn committed(&mut self, based_on: u64, outcome: CommitOutcome) -> Outcome {
        match outcome {
            CommitOutcome::Committed => Outcome::Committed(based_on + 1),
            CommitOutcome::Stale(present) => Outcome::Stale(self.loaded(present)),
        }
    }
}

/// A snapshot, as `storage` has it.
#[derive(ComponentType, Lower)]
#[component(record)]
pub(super) struct Loaded {
    version: u64,
    data: Option<Vec<u8>>,
}

/// A commit outcome, as `storage` has it.
#[derive(ComponentType, Lower)]
#[component(variant)]
pub(super) enum Outcome {
    #[component(name = "committed")]
    Committed(u64),
    #[component(name = "stale")]
    Stale(Loaded),
}
