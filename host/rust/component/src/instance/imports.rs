//! The functions that the component imports: storage, clock and entropy.

use std::sync::Arc;

use halfopen_contract::engine::{Input, ProposedWrite};
use halfopen_contract::entropy::Entropy;
use halfopen_contract::store::Snapshot;
use halfopen_contract::time::Clock;
use halfopen_contract::types::StorageError;
use wasmtime::StoreContextMut;
use wasmtime::component::{ComponentType, Linker, Lower, WasmStr};

use super::write_through::{Commit, Committed, WriteThrough, denied};
use crate::spawn_blocking::spawn_blocking;

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
    dependency: Option<Arc<str>>,
    snapshot: Snapshot,
    /// The instant of the operation; or the store's own time at the last load of a write-through call.
    now: Option<u64>,
    write: Option<ProposedWrite>,
    written: usize,
    max_write: usize,
    /// Serves the calls outside an operation; none where they are refused.
    write_through: Option<Arc<WriteThrough>>,
}

impl Imports {
    /// Imports that serve operations alone.
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<Entropy>, max_write: usize) -> Self {
        Imports {
            clock,
            entropy,
            dependency: None,
            snapshot: Snapshot::default(),
            now: None,
            write: None,
            written: 0,
            max_write,
            write_through: None,
        }
    }

    /// The same, with write-through calls outside of operations.
    pub fn write_through(self, write_through: Arc<WriteThrough>) -> Self {
        Imports { write_through: Some(write_through), ..self }
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

    /// The version of the record, with what the operation has committed.
    fn version(&self) -> u64 {
        self.snapshot.version.saturating_add(self.write.as_ref().map_or(0, |write| write.commits))
    }

    fn load(&self) -> Loaded {
        let data = self.write.as_ref().map_or(&self.snapshot.data, |write| &write.data);
        Loaded { version: self.version(), data: data.clone() }
    }

    fn commit(&mut self, commit: Commit) -> Result<Outcome, StorageError> {
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

    fn check_size(&self, written: usize) -> Result<(), StorageError> {
        match written <= self.max_write {
            true => Ok(()),
            false => Err(denied("a call writes no more than its instance may have of memory")),
        }
    }

    /// Takes over the time of the store that a write-through call has read.
    fn loaded(&mut self, snapshot: Snapshot) -> Loaded {
        self.now = snapshot.at;
        Loaded { version: snapshot.version, data: snapshot.data }
    }

    fn committed(&mut self, committed: Committed) -> Outcome {
        match committed {
            Committed::At(version) => Outcome::Committed(version),
            Committed::Stale(present) => Outcome::Stale(self.loaded(present)),
        }
    }
}

/// A snapshot, as `storage` has it.
#[derive(ComponentType, Lower)]
#[component(record)]
struct Loaded {
    version: u64,
    data: Option<Vec<u8>>,
}

/// A commit outcome, as `storage` has it.
#[derive(ComponentType, Lower)]
#[component(variant)]
enum Outcome {
    #[component(name = "committed")]
    Committed(u64),
    #[component(name = "stale")]
    Stale(Loaded),
}

const STORAGE: &str = "halfopen:breaker/storage@0.1.0";

/// The arguments of `commit`.
type CommitArguments = (WasmStr, u64, Option<Vec<u8>>, Vec<String>);

/// Supplies the imports.
pub(crate) fn link<T: ImportsView>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    link_clock_and_entropy(linker)?;
    let mut storage = linker.instance(STORAGE)?;
    storage.func_wrap("load", |mut store: StoreContextMut<'_, T>, (name,): (WasmStr,)| {
        let result = match route(&mut store, &name)? {
            Ok(Route::Operation) => Ok(store.data_mut().imports().load()),
            Ok(Route::WriteThrough(records, name)) => {
                records.load(&name).map(|snapshot| store.data_mut().imports().loaded(snapshot))
            }
            Err(error) => Err(error),
        };
        Ok((result,))
    })?;
    storage.func_wrap("commit", |mut store: StoreContextMut<'_, T>, arguments: CommitArguments| {
        let (name, based_on, data, transitions) = arguments;
        let commit = Commit { based_on, data, transitions };
        let result = match route(&mut store, &name)? {
            Ok(Route::Operation) => store.data_mut().imports().commit(commit),
            Ok(Route::WriteThrough(records, name)) => store
                .data_mut()
                .imports()
                .check_size(commit.size())
                .and_then(|()| records.commit(&name, commit))
                .map(|committed| store.data_mut().imports().committed(committed)),
            Err(error) => Err(error),
        };
        Ok((result,))
    })
}

/// Supplies the imports for async calls: write-through calls wait for the store on a thread for work that blocks.
pub(crate) fn link_async<T: ImportsView>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    link_clock_and_entropy(linker)?;
    let mut storage = linker.instance(STORAGE)?;
    storage.func_wrap_async("load", |mut store: StoreContextMut<'_, T>, (name,): (WasmStr,)| {
        Box::new(async move {
            let result = match route(&mut store, &name)? {
                Ok(Route::Operation) => Ok(store.data_mut().imports().load()),
                Ok(Route::WriteThrough(records, name)) => spawn_blocking(move || records.load(&name))
                    .await
                    .map(|snapshot| store.data_mut().imports().loaded(snapshot)),
                Err(error) => Err(error),
            };
            Ok((result,))
        })
    })?;
    storage.func_wrap_async("commit", |mut store: StoreContextMut<'_, T>, arguments: CommitArguments| {
        Box::new(async move {
            let (name, based_on, data, transitions) = arguments;
            let commit = Commit { based_on, data, transitions };
            let result = match route(&mut store, &name)? {
                Ok(Route::Operation) => store.data_mut().imports().commit(commit),
                Ok(Route::WriteThrough(records, name)) => match store.data_mut().imports().check_size(commit.size()) {
                    Ok(()) => spawn_blocking(move || records.commit(&name, commit))
                        .await
                        .map(|committed| store.data_mut().imports().committed(committed)),
                    Err(error) => Err(error),
                },
                Err(error) => Err(error),
            };
            Ok((result,))
        })
    })
}

fn link_clock_and_entropy<T: ImportsView>(linker: &mut Linker<T>) -> wasmtime::Result<()> {
    linker.instance("halfopen:breaker/clock@0.1.0")?.func_wrap(
        "now",
        |mut store: StoreContextMut<'_, T>, (): ()| {
            let imports = store.data_mut().imports();
            Ok((imports.now.unwrap_or_else(|| imports.clock.now()),))
        },
    )?;
    linker
        .instance("halfopen:breaker/entropy@0.1.0")?
        .func_wrap("next", |mut store: StoreContextMut<'_, T>, (): ()| Ok((store.data_mut().imports().entropy.next(),)))
}

/// The way of a storage call.
enum Route {
    /// To the record of the operation.
    Operation,
    /// To the store, at once.
    WriteThrough(Arc<WriteThrough>, Box<str>),
}

/// Decides the way of a storage call. The name is compared in the component's memory, without a copy.
fn route<T: ImportsView>(
    store: &mut StoreContextMut<'_, T>,
    name: &WasmStr,
) -> wasmtime::Result<Result<Route, StorageError>> {
    // Taken out for the moment: the name is read through the store as well.
    let Some(own) = store.data_mut().imports().dependency.take() else {
        let write_through = store.data_mut().imports().write_through.clone();
        let refused = "a call reads and writes a record only as an operation of a handle, or where its commits are \
                       written through";
        return Ok(match write_through {
            Some(records) => Ok(Route::WriteThrough(records, name.to_str(&store)?.into())),
            None => Err(denied(refused)),
        });
    };
    let is_own = name.to_str(&store).map(|name| *name == *own);
    store.data_mut().imports().dependency = Some(own);
    let another = "a call reads and writes the record of its own dependency only";
    Ok(if is_own? { Ok(Route::Operation) } else { Err(denied(another)) })
}
