//! What the component imports: the record of its call, the time, randomness. One implementation for this crate's own
//! instances and for those in a platform's stores.

use std::sync::Arc;

use wasmtime::StoreContextMut;
use wasmtime::component::{HasData, Linker, WasmStr};

use crate::bindings::halfopen::breaker::{clock, entropy, storage};
use crate::clock::Clock;
use crate::direct::{Direct, Outcome};
use crate::entropy::Entropy;
use crate::store::Snapshot;
use crate::wire::{StorageError, Transition};

/// What an exported call wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// How many commits it made, one after the other; each raises the version by one.
    pub commits: u64,
    /// The record after the last of them; none where that removed it.
    pub data: Option<Vec<u8>>,
    pub transitions: Vec<Transition>,
}

/// The host's side of an instance: the view that its call sees, and what the call wrote.
pub(crate) struct Imports {
    clock: Arc<dyn Clock>,
    entropy: Arc<Entropy>,
    /// Whose record the call is about; none where no call is held.
    dependency: Option<Arc<str>>,
    view: Snapshot,
    change: Option<Change>,
    /// How many bytes a call may hand over to be written.
    most: usize,
    written: usize,
    /// Where the calls go that are not held; none where they are refused.
    direct: Option<Arc<Direct>>,
}

impl Imports {
    pub fn new(clock: Arc<dyn Clock>, entropy: Arc<Entropy>, most: usize, direct: Option<Arc<Direct>>) -> Self {
        let view = Snapshot::default();
        Imports { clock, entropy, dependency: None, view, change: None, most, written: 0, direct }
    }

    /// A call begins that sees this view of a record. What it commits is held until it has ended.
    pub fn begin(&mut self, dependency: &Arc<str>, view: &Snapshot) {
        self.dependency = Some(dependency.clone());
        self.view.version = view.version;
        self.view.at = view.at;
        self.view.data.clone_from(&view.data);
        self.change = None;
        self.written = 0;
    }

    /// The call has ended: what it committed.
    pub fn end(&mut self) -> Option<Change> {
        self.dependency = None;
        self.change.take()
    }

    /// The version, with what the call has committed so far.
    fn version(&self) -> u64 {
        self.view.version + self.change.as_ref().map_or(0, |change| change.commits)
    }

    fn snapshot(&self) -> storage::Snapshot {
        let data = self.change.as_ref().map_or(&self.view.data, |change| &change.data);
        storage::Snapshot { version: self.version(), data: data.clone() }
    }

    fn commit(&mut self, commit: Commit) -> Result<storage::CommitOutcome, StorageError> {
        if commit.based_on != self.version() {
            return Ok(storage::CommitOutcome::Stale(self.snapshot()));
        }
        if self.change.as_ref().is_some_and(|change| change.data.is_none()) {
            // A removal takes the history with it; one write cannot say that and have a history of its own.
            return Err(denied("a call that has removed its record writes no more"));
        }
        self.written += commit.size();
        self.bounded(self.written)?;
        let change = self.change.get_or_insert_default();
        change.commits += 1;
        change.data = commit.data;
        change.transitions.extend(commit.transitions);
        Ok(storage::CommitOutcome::Committed(self.version()))
    }

    fn bounded(&self, written: usize) -> Result<(), StorageError> {
        match written <= self.most {
            true => Ok(()),
            false => Err(denied("a call writes no more than its instance may have of memory")),
        }
    }

    /// A call that is not held has seen a record: from now on it goes by the clock that came with it.
    fn saw(&mut self, snapshot: Snapshot) -> storage::Snapshot {
        self.view.at = snapshot.at;
        storage::Snapshot { version: snapshot.version, data: snapshot.data }
    }

    fn saw_outcome(&mut self, outcome: Outcome) -> storage::CommitOutcome {
        match outcome {
            Outcome::Stale(present) => storage::CommitOutcome::Stale(self.saw(present)),
            Outcome::Committed(version) => storage::CommitOutcome::Committed(version),
        }
    }
}

/// What `commit` is called with, the name aside.
pub(crate) struct Commit {
    pub based_on: u64,
    pub data: Option<Vec<u8>>,
    pub transitions: Vec<Transition>,
}

impl Commit {
    fn size(&self) -> usize {
        let size = |transition: &Transition| size_of_val(transition) + transition.reason.as_str().len();
        self.data.as_ref().map_or(0, Vec::len) + self.transitions.iter().map(size).sum::<usize>()
    }
}

pub(crate) fn denied(why: &str) -> StorageError {
    StorageError::Denied(why.to_owned())
}

impl clock::Host for Imports {
    fn now(&mut self) -> u64 {
        self.view.at.unwrap_or_else(|| self.clock.now())
    }
}

impl entropy::Host for Imports {
    fn next(&mut self) -> u64 {
        self.entropy.next()
    }
}

struct HasImports;

impl HasData for HasImports {
    type Data<'a> = &'a mut Imports;
}

/// How the imports are reached in the data of a store.
type Of<T> = fn(&mut T) -> &mut Imports;

/// Gives the component what it may import.
pub(crate) fn link<T: 'static>(linker: &mut Linker<T>, of: Of<T>) -> wasmtime::Result<()> {
    link_time_and_entropy(linker, of)?;
    let mut storage = linker.instance(STORAGE)?;
    storage.func_wrap("load", move |mut store: StoreContextMut<'_, T>, (name,): (WasmStr,)| {
        let result = match whose(&mut store, of, &name)? {
            Ok(Whose::Held) => Ok(of(store.data_mut()).snapshot()),
            Ok(Whose::Direct(direct, name)) => direct.load(&name).map(|snapshot| of(store.data_mut()).saw(snapshot)),
            Err(error) => Err(error),
        };
        Ok((result,))
    })?;
    storage.func_wrap(
        "commit",
        move |mut store: StoreContextMut<'_, T>, (name, based_on, data, transitions): Passed| {
            let commit = Commit { based_on, data, transitions };
            let result = match whose(&mut store, of, &name)? {
                Ok(Whose::Held) => of(store.data_mut()).commit(commit),
                Ok(Whose::Direct(direct, name)) => of(store.data_mut())
                    .bounded(commit.size())
                    .and_then(|()| direct.commit(&name, commit))
                    .map(|outcome| of(store.data_mut()).saw_outcome(outcome)),
                Err(error) => Err(error),
            };
            Ok((result,))
        },
    )
}

/// The same for async calls: what goes to a store directly is done on a thread for work that blocks.
#[cfg(feature = "plugin")]
pub(crate) fn link_async<T: Send + 'static>(linker: &mut Linker<T>, of: Of<T>) -> wasmtime::Result<()> {
    use crate::elsewhere::Elsewhere;

    link_time_and_entropy(linker, of)?;
    let mut storage = linker.instance(STORAGE)?;
    storage.func_wrap_async("load", move |mut store: StoreContextMut<'_, T>, (name,): (WasmStr,)| {
        Box::new(async move {
            let result = match whose(&mut store, of, &name)? {
                Ok(Whose::Held) => Ok(of(store.data_mut()).snapshot()),
                Ok(Whose::Direct(direct, name)) => {
                    let loaded = Elsewhere::run(move || direct.load(&name)).await;
                    loaded.map(|snapshot| of(store.data_mut()).saw(snapshot))
                }
                Err(error) => Err(error),
            };
            Ok((result,))
        })
    })?;
    storage.func_wrap_async(
        "commit",
        move |mut store: StoreContextMut<'_, T>, (name, based_on, data, transitions): Passed| {
            Box::new(async move {
                let commit = Commit { based_on, data, transitions };
                let result = match whose(&mut store, of, &name)? {
                    Ok(Whose::Held) => of(store.data_mut()).commit(commit),
                    Ok(Whose::Direct(direct, name)) => match of(store.data_mut()).bounded(commit.size()) {
                        Ok(()) => {
                            let outcome = Elsewhere::run(move || direct.commit(&name, commit)).await;
                            outcome.map(|outcome| of(store.data_mut()).saw_outcome(outcome))
                        }
                        Err(error) => Err(error),
                    },
                    Err(error) => Err(error),
                };
                Ok((result,))
            })
        },
    )
}

const STORAGE: &str = "halfopen:breaker/storage@0.1.0";

/// What `commit` is called with.
type Passed = (WasmStr, u64, Option<Vec<u8>>, Vec<Transition>);

fn link_time_and_entropy<T: 'static>(linker: &mut Linker<T>, of: Of<T>) -> wasmtime::Result<()> {
    clock::add_to_linker::<_, HasImports>(linker, of)?;
    entropy::add_to_linker::<_, HasImports>(linker, of)
}

/// Whose record an import speaks of.
enum Whose {
    /// That of the call that is held.
    Held,
    /// One that is reached directly.
    Direct(Arc<Direct>, Box<str>),
}

/// By hand rather than generated: the name is compared where it is, in the component's memory.
fn whose<T: 'static>(
    store: &mut StoreContextMut<'_, T>,
    of: Of<T>,
    name: &WasmStr,
) -> wasmtime::Result<Result<Whose, StorageError>> {
    // Taken out for the time being: the name is behind the store as well.
    let Some(own) = of(store.data_mut()).dependency.take() else {
        let direct = of(store.data_mut()).direct.clone();
        let refused = "a call reads and writes a record only where its host has begun it, or lets it commit at once";
        return Ok(match direct {
            Some(direct) => Ok(Whose::Direct(direct, name.to_str(&store)?.into())),
            None => Err(denied(refused)),
        });
    };
    let is_own = name.to_str(&store).map(|name| *name == *own);
    of(store.data_mut()).dependency = Some(own);
    let another = "a call reads and writes the record of its own dependency only";
    Ok(if is_own? { Ok(Whose::Held) } else { Err(denied(another)) })
}
